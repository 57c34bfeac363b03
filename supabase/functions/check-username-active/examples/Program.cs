// A program with ActivationCheck.cs, in Windows Forms.
using System;
using System.Collections.Generic;
using System.Net.Http;
using System.Windows.Forms;

class Program : Form
{
    static readonly HttpClient Http = new HttpClient { Timeout = TimeSpan.FromSeconds(10) };
    readonly Label message = new Label { AutoSize = true };
    readonly Label nameLabel = new Label { Top = 30, Text = "Name" };
    readonly TextBox name = new TextBox { Top = 30, Left = 110 };
    readonly Label keyLabel = new Label { Top = 60, Text = "Key, if it is new" };
    readonly TextBox key = new TextBox { Top = 60, Left = 110 };
    readonly Button activate = new Button { Top = 90, Text = "Activate" };

    Program()
    {
        Controls.AddRange(new Control[] { message, nameLabel, name, keyLabel, key, activate });
        Load += (sender, args) => Start(ActivationCheck.StoredName());
        activate.Click += (sender, args) => ActivateKey(name.Text.Trim(), key.Text.Trim());
        FormClosed += (sender, args) => ActivationCheck.StopAsking();
    }

    async void Start(string username)
    {
        name.Text = username;
        if (username == null)
        {
            Draw("Type your name and your key.", true);
            return;
        }
        Draw("Checking the key …", false);
        await ActivationCheck.KeepAskingAsync(
            username, () => Draw("Active", false), result => Draw(MessageFor(result), true));
    }

    static string MessageFor(ActivationCheck.Result result)
    {
        switch (result)
        {
            case ActivationCheck.Result.Inactive: return "There is no active key for this name. Is it right?";
            case ActivationCheck.Result.NoAnswer: return "The key could not be checked yet. Are you online?";
            default: return "The key cannot be checked. If that stays so, please update this program.";
        }
    }

    void Draw(string text, bool hasForm)
    {
        message.Text = text;
        nameLabel.Visible = name.Visible = keyLabel.Visible = key.Visible = activate.Visible = hasForm;
    }

    async void ActivateKey(string username, string code)
    {
        if (username == "") return;
        ActivationCheck.StopAsking(); // Its result would replace the one of the activation.
        Draw("Checking the key …", false); // Hides the button, so that nobody activates twice.
        try
        {
            var fields = new Dictionary<string, string> { ["name"] = username, ["key"] = code };
            var form = new FormUrlEncodedContent(fields);
            if (code != "") (await Http.PostAsync("https://shop.example/activate", form)).EnsureSuccessStatusCode();
            Start(username);
        }
        catch (Exception error) when (error is HttpRequestException || error is OperationCanceledException)
        {
            Draw("The key could not be activated: " + error.Message, true);
        }
    }

    [STAThread]
    static void Main() => Application.Run(new Program());
}
