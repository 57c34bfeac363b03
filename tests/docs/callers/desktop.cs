// Asks with ActivationCheck.cs in the world of a test. With names, asks once about each, for real.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

/// <summary>The thread of the add-on's window.</summary>
class Window : SynchronizationContext
{
    public override void Post(SendOrPostCallback callback, object state) => World.Work.Enqueue(() => callback(state));
}

static class World
{
    public static readonly Queue<Action> Work = new Queue<Action>();
    public static DateTimeOffset UtcNow;
    static readonly List<TaskCompletionSource<string>> replies = new List<TaskCompletionSource<string>>();
    static readonly string[] words = { "active", "inactive", "mistake", "no answer" };
    static CancellationTokenSource cancel = new CancellationTokenSource();
    static string following = ""; // What the next callback does: "throw", or a name to ask about.

    static Task<string> WaitFor(string what, object about)
    {
        Console.WriteLine(what + " " + replies.Count + " " + about);
        replies.Add(new TaskCompletionSource<string>());
        return replies.Last().Task;
    }

    public static async Task Delay(TimeSpan time, CancellationToken cancel)
    {
        await WaitFor("pause", time.TotalSeconds);
        cancel.ThrowIfCancellationRequested();
    }

    public static async Task<Activation> CheckActiveAsync(string name, CancellationToken _) =>
        (Activation)Array.IndexOf(words, await WaitFor("ask", name));

    static async void Ask(string name)
    {
        Action<string> callBack = what =>
        {
            Console.WriteLine(what);
            var does = following;
            following = "";
            if (does == "throw") throw new InvalidOperationException();
            if (does != "") Ask(does);
        };
        try
        {
            await ActivationCheck.KeepAskingAsync(
                name, () => callBack("unlock"), result => callBack("lock " + words[(int)result]), cancel.Token);
        }
        catch (Exception error)
        {
            if (error is InvalidOperationException) Console.WriteLine("error");
        }
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
            var parts = line.Split(new[] { ' ' }, 3);
            UtcNow = DateTimeOffset.FromUnixTimeMilliseconds((long)(1000 * double.Parse(parts[0])));
            if (parts[1] == "new") cancel = new CancellationTokenSource();
            if (parts[1] == "ask") Ask(parts[2]);
            else if (parts[1] == "new" || parts[1] == "next") following = parts[2];
            else if (parts[1] == "stop") cancel.Cancel();
            else if (parts[1] == "reply")
            {
                var reply = parts[2].Split(new[] { ' ' }, 2);
                replies[int.Parse(reply[0])].SetResult(reply[1]);
            }
            while (Work.Count > 0) Work.Dequeue()();
        }
    }
}
