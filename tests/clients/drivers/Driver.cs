// Plays a scenario to ActivationCheck.cs, in the protocol of startProgram.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

static class Simulated
{
    public static DateTimeOffset UtcNow;
    static readonly string[] results = { "active", "inactive", "mistake", "no answer" };
    static readonly List<TaskCompletionSource<string>> waiting =
        new List<TaskCompletionSource<string>>();

    static Task<string> WaitFor(string word, object about)
    {
        Console.WriteLine(word + " " + waiting.Count + " " + about);
        waiting.Add(new TaskCompletionSource<string>());
        return waiting[waiting.Count - 1].Task;
    }

    public static Task Delay(TimeSpan time) => WaitFor("waits", time.TotalSeconds);

    public static async Task<ActivationCheck.Result> CheckActiveAsync(string name) =>
        (ActivationCheck.Result)Array.IndexOf(results, await WaitFor("asks", name));

    static async void Ask(string name)
    {
        Action<string> call = what =>
        {
            Console.WriteLine(what);
            if (name.EndsWith("!")) throw new InvalidOperationException();
        };
        Action<ActivationCheck.Result> onLock = result => call("lock " + results[(int)result]);
        try { await ActivationCheck.KeepAskingAsync(name, () => call("unlock"), onLock); }
        catch (InvalidOperationException) { Console.WriteLine("error"); }
    }

    static void Main()
    {
        Console.WriteLine(".");
        for (string line; (line = Console.ReadLine()) != null; Console.WriteLine("."))
        {
            var words = line.Split(new[] { ' ' }, 4);
            var about = words[3];
            UtcNow = DateTimeOffset.FromUnixTimeMilliseconds((long)(1000 * double.Parse(words[1])));
            if (words[2] == "ask") Ask(about);
            if (words[2] == "check")
                Console.WriteLine(results[(int)ActivationCheck.CheckActiveAsync(about).Result]);
            if (words[2] == "stop") ActivationCheck.StopAsking();
            if (words[2] != "reply") continue;
            words = about.Split(new[] { ' ' }, 3);
            waiting[int.Parse(words[0])].SetResult(words[2]);
        }
    }
}
