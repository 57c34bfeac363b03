// Asks whether a user has an active key, from a desktop application. C# 7 or later, for .NET 6 or later,
// .NET Framework 4.8 (add a reference to System.Net.Http) and netstandard2.0. Copy it whole and change Service
// and ProjectId. README.md, beside this file, shows how to call it.
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

public static class ActivationCheck
{
    const string Service = "https://<ref>.supabase.co/functions/v1/check-username-active";
    const string ProjectId = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

    public enum Result { Active, Inactive, Mistake, NoAnswer }

    const long DayS = 24 * 60 * 60;
    static readonly TimeSpan Timeout = TimeSpan.FromSeconds(10);

    // The product's file has the second of the last 200, a space, and the name.
    static readonly string StoredFolder = Path.Combine(
        Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData), "check-username-active");
    static readonly string StoredFile = Path.Combine(StoredFolder, ProjectId + ".txt");

    static readonly HttpClient Http = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false })
    {
        Timeout = Timeout,
        DefaultRequestHeaders = { ExpectContinue = false },
    };
    static readonly object Gate = new object(); // Held while a callback runs, so that StopAsking waits for its end.
    static TaskCompletionSource<bool> end = new TaskCompletionSource<bool>();

    /// <summary>Asks once, and stores nothing.</summary>
    public static async Task<Result> CheckActiveAsync(string username)
    {
        // In a thread of its own: a lookup of a proxy or of a name may block, and ignores HttpClient's timeout.
        var question = Task.Run(() => AskAsync(username));
        await Task.WhenAny(question, Task.Delay(Timeout)).ConfigureAwait(false);
        return question.IsCompleted ? await question.ConfigureAwait(false) : Result.NoAnswer;
    }

    /// <summary>
    /// Calls onUnlock at once if this name's last 200 is recent. Asks, and calls onUnlock or onLock. While there
    /// is no answer, it asks again after a pause, and calls one of them again, in the calling window's thread (in a
    /// console program, in the pool's). They must not be async, or wait for another thread. Calling it anew
    /// replaces the earlier call. What onUnlock or onLock throws ends it, too, and is thrown.
    /// </summary>
    public static async Task KeepAskingAsync(string username, Action onUnlock, Action<Result> onLock)
    {
        var ended = EndEarlier();
        lock (Gate)
        {
            if (!ended.IsCompleted && HasRecent200(username)) onUnlock();
        }
        var random = new Random();
        for (var pauseS = 5; !ended.IsCompleted; pauseS = Math.Min(2 * pauseS, 600))
        {
            var question = CheckActiveAsync(username);
            if (await Task.WhenAny(ended, question) == ended) return;
            var result = await question;
            lock (Gate)
            {
                if (ended.IsCompleted) return;
                var isActive = result == Result.Active || (result != Result.Inactive && HasRecent200(username));
                if (result == Result.Active) Store(NowS() + " " + username);
                if (result == Result.Inactive && StoredName() == username) Store("");
                if (isActive) onUnlock();
                else onLock(result);
            }
            if (result != Result.NoAnswer) return;
            var pause = Task.Delay(TimeSpan.FromSeconds(pauseS * (0.5 + random.NextDouble())));
            await Task.WhenAny(ended, pause);
        }
    }

    /// <summary>Ends KeepAskingAsync, whose task then completes. From its return on, no callback runs.</summary>
    public static void StopAsking() => EndEarlier();

    /// <summary>The name of the last 200. Null if there is none, or it cannot be read.</summary>
    public static string StoredName() => Stored().Name;

    /// <summary>Ends the earlier asking. The result completes when this one is to end.</summary>
    static Task EndEarlier()
    {
        lock (Gate)
        {
            end.SetResult(true);
            end = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
            return end.Task;
        }
    }

    static async Task<Result> AskAsync(string username)
    {
        try
        {
            var body = "{\"username\":" + Quote(username) + ",\"project_id\":\"" + ProjectId + "\"}";
            using (var request = new HttpRequestMessage(HttpMethod.Post, Service))
            {
                request.Content = new StringContent(body, Encoding.UTF8, "application/json");
                var response = await Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
                var status = (int)response.StatusCode;
                _ = Task.Run(() => response.Dispose()); // Not here: .NET Framework may wait for the body.
                if (status == 200) return Result.Active;
                if (status == 499) return Result.Inactive;
                if (status != 400 && status != 405 && status != 413) return Result.NoAnswer;
                Trace.TraceError("check-username-active: status " + status);
                return Result.Mistake;
            }
        }
        catch (Exception error)
        {
            Trace.TraceInformation("check-username-active: " + error.Message); // No network, or nothing in time.
            return Result.NoAnswer;
        }
    }

    /// <summary>Whether this name's last 200 is less than 14 days old. Clocks differ by up to a day.</summary>
    static bool HasRecent200(string username)
    {
        var (second, name) = Stored();
        var ageS = NowS() - second;
        return name == username && -DayS <= ageS && ageS < 14 * DayS;
    }

    static long NowS() => DateTimeOffset.UtcNow.ToUnixTimeSeconds();

    static (long Second, string Name) Stored()
    {
        try
        {
            // A replacement that fails may leave only the backup.
            var text = File.ReadAllText(File.Exists(StoredFile) ? StoredFile : StoredFile + ".old");
            var entry = Regex.Match(text, "^([1-9][0-9]{0,11}) (.+)$", RegexOptions.Singleline);
            if (entry.Success) return (long.Parse(entry.Groups[1].Value), entry.Groups[2].Value);
        }
        catch (Exception)
        {
            // As if nothing were stored.
        }
        return (0, null);
    }

    static void Store(string text)
    {
        try
        {
            Directory.CreateDirectory(StoredFolder);
            var bytes = Encoding.UTF8.GetBytes(text);
            using (var file = File.Create(StoredFile + ".new"))
            {
                file.Write(bytes, 0, bytes.Length);
                file.Flush(true); // To the disk, before it replaces the old entry.
            }
            if (File.Exists(StoredFile)) File.Replace(StoredFile + ".new", StoredFile, StoredFile + ".old");
            else File.Move(StoredFile + ".new", StoredFile);
        }
        catch (Exception)
        {
            // What was there stays. The next 200 tries again.
        }
    }

    /// <summary>Writes a name for JSON, in ASCII only.</summary>
    static string Quote(string name) => name == null ? "null" : "\"" + string.Concat(name.Select(letter =>
        letter < ' ' || letter > '~' || letter == '"' || letter == '\\'
            ? "\\u" + ((int)letter).ToString("x4")
            : letter.ToString())) + "\"";
}
