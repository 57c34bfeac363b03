// Reads events, a line each, and prints what ActivationCheck.cs does, as `Client.run` describes.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Threading;
using System.Threading.Tasks;

static class Simulated
{
    public static string Query; // For the service of the test.
    static string service = "200";
    static readonly List<string> answers = new List<string>(); // Of a service that was silent.
    static double nowS, clockS = 2000000;

    sealed class Wait : TaskCompletionSource<bool> { public Func<bool> IsOver; }
    static readonly List<Wait> waits = new List<Wait>();

    static Task WaitUntil(Func<bool> isOver)
    {
        var wait = new Wait { IsOver = isOver };
        waits.Add(wait);
        return wait.Task;
    }

    static void EndWaits()
    {
        for (Wait wait; (wait = waits.Find(it => it.IsOver())) != null;)
        {
            waits.Remove(wait);
            wait.SetResult(true); // What awaits it runs in here.
        }
    }

    public static DateTimeOffset UtcNow =>
        DateTimeOffset.FromUnixTimeMilliseconds((long)(1000 * (clockS + nowS)));

    public static Task Delay(TimeSpan time)
    {
        var endS = nowS + time.TotalSeconds;
        return WaitUntil(() => nowS >= endS);
    }

    // Waits while the service is silent. Then blocks until the service of the test has responded.
    public static async Task<ActivationCheck.Result> CheckActiveAsync(string name)
    {
        Console.WriteLine("asks " + name);
        var (status, nextAnswer, endS) = (service, answers.Count, nowS + 10);
        if (status == "silent") await WaitUntil(() => nowS >= endS || answers.Count > nextAnswer);
        if (answers.Count > nextAnswer) status = answers[nextAnswer];
        Query = "?" + status + "&" + Uri.EscapeDataString(name);
        return ActivationCheck.CheckActiveAsync(name).Result;
    }

    static async void Ask(string name)
    {
        Action<string> call = what =>
        {
            var file = Environment.GetEnvironmentVariable("FILE");
            Console.WriteLine(what + ": " + (File.Exists(file) ? File.ReadAllText(file) : ""));
            if (name.EndsWith("!")) throw new InvalidOperationException();
        };
        string[] results = { "active", "inactive", "mistake", "no answer" };
        Action<ActivationCheck.Result> onLock = result => call("lock " + results[(int)result]);
        try { await ActivationCheck.KeepAskingAsync(name, () => call("unlock"), onLock); }
        catch (InvalidOperationException) { Console.WriteLine("error"); }
    }

    // Fails unless StopAsking waits for the callback that another thread runs.
    static void CheckThreads()
    {
        var (hasBegun, hasEnded) = (false, false);
        Action unlock = () => { hasBegun = true; Thread.Sleep(300); hasEnded = true; };
        Task.Run(() => ActivationCheck.KeepAskingAsync("A", unlock, null));
        SpinWait.SpinUntil(() => hasBegun, 10000);
        ActivationCheck.StopAsking();
        if (!hasEnded) throw new Exception("A callback runs after StopAsking.");
    }

    static void Main()
    {
        for (string line; (line = Console.ReadLine()) != null;)
        {
            var words = line.Split(new[] { ' ' }, 2);
            var about = words[words.Length - 1];
            while (words[0] == "until" && nowS < double.Parse(about))
            {
                nowS = Math.Round(nowS + 0.1, 1);
                EndWaits();
            }
            if (words[0] == "print") Console.WriteLine(about);
            if (words[0] == "sh") Process.Start("sh", "-c \"" + about + "\"").WaitForExit();
            if (words[0] == "ask") Ask(about);
            if (words[0] == "stop") ActivationCheck.StopAsking();
            if (words[0] == "service") service = about;
            if (words[0] == "answer") answers.Add(about);
            if (words[0] == "clock") clockS += int.Parse(about);
            if (words[0] == "threads") CheckThreads();
            EndWaits();
        }
    }
}
