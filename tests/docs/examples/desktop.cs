// An add-on with ActivationCheck.cs, for startProgram.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading.Tasks;
using static ActivationCheck;

static class Simulated
{
    public static DateTimeOffset UtcNow;
    static readonly string[] results = { "active", "inactive", "mistake", "no answer" };
    static readonly List<TaskCompletionSource<string>> replies = new List<TaskCompletionSource<string>>();
    static readonly List<Task> tasks = new List<Task>();
    static string callback = "";
    static Task stop = Task.CompletedTask;

    static Task<string> WaitFor(string word, object about)
    {
        Console.WriteLine(word + " " + replies.Count + " " + about);
        replies.Add(new TaskCompletionSource<string>());
        return replies.Last().Task;
    }

    public static Task Delay(TimeSpan time) => WaitFor("pauses", time.TotalSeconds);

    public static async Task<Result> CheckActiveAsync(string name) =>
        (Result)Array.IndexOf(results, await WaitFor("asks", name));

    static async Task Ask(string name)
    {
        try { await KeepAskingAsync(name, () => Call("unlock"), result => Call("lock " + results[(int)result])); }
        catch (InvalidOperationException) { Console.WriteLine("error"); }
        stop.Wait();
    }

    static void Call(string what)
    {
        Console.WriteLine("calls " + what);
        var does = callback;
        callback = "";
        if (does == "stops") stop = Task.Run((Action)StopAsking);
        if (does == "stops" && stop.Wait(100)) Console.WriteLine("stopped early");
        if (does == "throws" || does == "stops") throw new InvalidOperationException();
        if (does != "") tasks.Add(Ask(does.Substring("asks ".Length)));
    }

    static void Main()
    {
        Trace.Listeners.Add(new ConsoleTraceListener { Filter = new EventTypeFilter(SourceLevels.Error) });
        var space = new[] { ' ' };
        for (string line; (line = Console.ReadLine()) != null; Console.WriteLine("."))
        {
            var words = line.Split(space, 4);
            var about = words[3];
            UtcNow = DateTimeOffset.FromUnixTimeMilliseconds((long)(1000 * double.Parse(words[1])));
            switch (words[2])
            {
                case "ask": tasks.Add(Ask(about == "" ? null : about)); break;
                case "callback": callback = about; break;
                case "check": Console.WriteLine(results[(int)ActivationCheck.CheckActiveAsync(about).Result]); break;
                case "name": Console.WriteLine("name " + StoredName()); break;
                case "reply":
                    var reply = about.Split(space, 3);
                    replies[int.Parse(reply[0])].SetResult(reply[2]);
                    break;
                case "stop": StopAsking(); break;
                case "tasks":
                    Task.WaitAll(tasks.ToArray(), 500);
                    Console.WriteLine("tasks: " + tasks.Count(task => !task.IsCompleted));
                    break;
            }
        }
    }
}
