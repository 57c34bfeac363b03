// An add-on with ActivationCheck.cs, for startProgram. With names, it asks once about each, for real.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using static ActivationCheck;

/// <summary>The thread of the add-on's window.</summary>
class Window : SynchronizationContext
{
    public static readonly ConcurrentQueue<Action> Work = new ConcurrentQueue<Action>();
    public override void Post(SendOrPostCallback callback, object state) => Work.Enqueue(() => callback(state));
    public static void Run() { while (Work.TryDequeue(out var action)) action(); }
}

static class Simulated
{
    public static DateTimeOffset UtcNow;
    static readonly string[] words = { "active", "inactive", "mistake", "no answer" };
    static readonly List<TaskCompletionSource<string>> replies = new List<TaskCompletionSource<string>>();
    static readonly List<Task> tasks = new List<Task>();
    static string callback = "";

    static Task<string> WaitFor(string word, object about)
    {
        Console.WriteLine(word + " " + replies.Count + " " + about);
        replies.Add(new TaskCompletionSource<string>());
        return replies.Last().Task;
    }

    public static Task Delay(TimeSpan time) => WaitFor("pauses", time.TotalSeconds);

    public static async Task<Result> CheckActiveAsync(string name) =>
        (Result)Array.IndexOf(words, await WaitFor("asks", name));

    static void Call(string what)
    {
        Console.WriteLine("calls " + what);
        var does = callback;
        callback = "";
        if (does == "throws") throw new InvalidOperationException();
        if (does != "") tasks.Add(Ask(does.Substring("asks ".Length)));
    }

    static async Task Ask(string name)
    {
        try { await KeepAskingAsync(name, () => Call("unlock"), result => Call("lock " + words[(int)result])); }
        catch (InvalidOperationException) { Console.WriteLine("error"); }
    }

    static void Main(string[] names)
    {
        Trace.Listeners.Add(new ConsoleTraceListener(true));
        foreach (var name in names) Console.WriteLine(words[(int)ActivationCheck.CheckActiveAsync(name).Result]);
        if (names.Length > 0) return;
        Console.InputEncoding = Console.OutputEncoding = new UTF8Encoding(false);
        SynchronizationContext.SetSynchronizationContext(new Window());
        for (string line; (line = Console.ReadLine()) != null; Console.WriteLine("."))
        {
            var words = line.Split(new[] { ' ' }, 4);
            var about = words.Length > 3 ? words[3] : "";
            UtcNow = DateTimeOffset.FromUnixTimeMilliseconds((long)(1000 * double.Parse(words[1])));
            switch (words[2])
            {
                case "new": callback = ""; StopAsking(); tasks.Clear(); break;
                case "ask": tasks.Add(Ask(about)); break;
                case "callback": callback = about; break;
                case "name": Console.WriteLine("name: " + (StoredName() ?? "nothing")); break;
                case "stop": StopAsking(); break;
                case "reply": replies[int.Parse(about.Split(' ')[0])].SetResult(about.Split(new[] { ' ' }, 2)[1]); break;
                case "tasks":
                    SpinWait.SpinUntil(() => { Window.Run(); return tasks.All(task => task.IsCompleted); }, 500);
                    Console.WriteLine("tasks: " + tasks.Count(task => !task.IsCompleted));
                    break;
            }
            Window.Run();
        }
    }
}
