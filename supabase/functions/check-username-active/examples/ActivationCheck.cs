// Asks whether a user has an active key, from a desktop application. For .NET 6 or later, .NET Framework 4.8
// (add a reference to System.Net.Http) and netstandard2.0. Copy it whole and change Service and ProjectId. Then,
// at each start, in the thread of the window, where the callbacks run, too (a console program has no such thread):
//
//   await ActivationCheck.KeepAskingAsync("CaptainKirin#0417", ShowWindow, ShowActivation);
//
// For a second product in the same program, copy it again and give the class and the enum other names.
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

public enum Activation { Active, Inactive, Mistake, NoAnswer }

public static class ActivationCheck
{
    const string Service = "https://<ref>.supabase.co/functions/v1/check-username-active";
    const string ProjectId = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

    const long GraceS = 14 * 24 * 60 * 60;
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
    static readonly object Gate = new object();
    static volatile object latest = Gate;

    /// <summary>Asks once, and stores nothing.</summary>
    public static async Task<Activation> CheckActiveAsync(string username, CancellationToken cancel = default)
    {
        // In a thread of its own: a lookup of a proxy or of a name may block, and ignores HttpClient's timeout.
        var question = Task.Run(() => AskAsync(username, cancel), cancel);
        await Task.WhenAny(question, Task.Delay(Timeout, cancel)).ConfigureAwait(false);
        cancel.ThrowIfCancellationRequested();
        return question.IsCompleted ? await question.ConfigureAwait(false) : Activation.NoAnswer;
    }

    /// <summary>
    /// Asks, and calls onUnlock or onLock. While there is no answer, it asks again after a pause, and calls one of
    /// them again. They must not be async. Calling it anew replaces the earlier call. Throws what onUnlock or
    /// onLock throws, and <see cref="OperationCanceledException"/> once it is cancelled.
    /// </summary>
    public static async Task KeepAskingAsync(
        string username, Action onUnlock, Action<Activation> onLock, CancellationToken cancel = default)
    {
        var own = new object();
        lock (Gate) latest = own;
        var random = new Random();
        for (var pauseS = 5; latest == own; pauseS = Math.Min(2 * pauseS, 600))
        {
            var result = await CheckActiveAsync(username, cancel);
            cancel.ThrowIfCancellationRequested();
            bool isRecent;
            lock (Gate)
            {
                if (latest != own) return;
                var nowS = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
                var storedS = StoredS(username);
                isRecent = storedS <= nowS && nowS < storedS + GraceS;
                if (result == Activation.Active) Store(nowS + " " + username);
                if (result == Activation.Inactive && storedS != null) Store("");
            }
            if (latest != own) return;
            if (result == Activation.Active || (result != Activation.Inactive && isRecent)) onUnlock();
            else onLock(result);
            if (result != Activation.NoAnswer) return;
            await Task.Delay(TimeSpan.FromSeconds(pauseS * (0.5 + random.NextDouble())), cancel);
        }
    }

    static async Task<Activation> AskAsync(string username, CancellationToken cancel)
    {
        var body = "{\"username\":" + Quote(username) + ",\"project_id\":\"" + ProjectId + "\"}";
        using (var request = new HttpRequestMessage(HttpMethod.Post, Service))
        {
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
            try
            {
                using (var response = await Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancel))
                {
                    var status = (int)response.StatusCode;
                    if (status == 200) return Activation.Active;
                    if (status == 499) return Activation.Inactive;
                    if (status != 400 && status != 405 && status != 413) return Activation.NoAnswer;
                    Trace.TraceError("check-username-active: status " + status);
                    return Activation.Mistake;
                }
            }
            catch (Exception error)
            {
                Trace.TraceInformation("check-username-active: " + error.Message); // No network, or nothing in time.
                return Activation.NoAnswer;
            }
        }
    }

    /// <summary>The second of this name's last 200. Null if there is none, or it cannot be read.</summary>
    static long? StoredS(string username)
    {
        try
        {
            var parts = File.ReadAllText(StoredFile).Split(new[] { ' ' }, 2);
            return parts[1] == username ? long.Parse(parts[0]) : (long?)null;
        }
        catch (Exception)
        {
            return null;
        }
    }

    static void Store(string text)
    {
        try
        {
            Directory.CreateDirectory(StoredFolder);
            File.WriteAllText(StoredFile + ".new", text);
            if (File.Exists(StoredFile)) File.Replace(StoredFile + ".new", StoredFile, null);
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
