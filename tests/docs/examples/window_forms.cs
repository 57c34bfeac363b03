// What Program.cs uses of Windows Forms.
namespace System.Windows.Forms {
  public class Control {
    public string Text; public int Top, Left; public bool Visible, AutoSize; public EventHandler Click, Load, FormClosed;
    public Collections.Generic.List<Control> Controls;
  }
  public class Label : Control {} public class TextBox : Control {} public class Button : Control {}
  public class Form : Control {} public class Application { public static void Run(Form form) {} }
}
