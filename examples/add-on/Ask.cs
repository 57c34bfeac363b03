// Asks once, with HttpClient. On .NET Framework, add a reference to System.Net.Http.
using System;
using System.Diagnostics;
using System.Net.Http;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

static class Activation
{
    const string Service = "https://<ref>.supabase.co/functions/v1/check-username-active";
    const string ProjectId = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

    // A redirect is not followed, because the 200 of another page is no yes. Cookies are off,
    // because Unity's Mono fails in their container on computers whose name is not Latin.
    static readonly HttpClient Http = new HttpClient(
        new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false })
        { Timeout = TimeSpan.FromSeconds(10) };

    // Throws for a lone surrogate, which would become another character. AskAsync then returns 0.
    static readonly Encoding Utf8 = new UTF8Encoding(false, true);

    // Escapes what may not stand in a JSON string: quotes, backslashes and control characters.
    static string Escape(string text) => Regex.Replace(
        text, @"[""\\\u0000-\u001F]", match => @"\u" + ((int)match.Value[0]).ToString("x4"));

    // Returns the status of the response, or 0 if there is none.
    public static async Task<int> AskAsync(string username)
    {
        try
        {
            var body = "{\"username\":\"" + Escape(username)
                + "\",\"project_id\":\"" + ProjectId + "\"}";
            var content = new StringContent(body, Utf8, "application/json");
            var request = new HttpRequestMessage(HttpMethod.Post, Service) { Content = content };
            request.Headers.UserAgent.ParseAdd("check-username-active"); // Some proxies demand one.
            // Does not wait for the body, and throws no exception for 499. ConfigureAwait(false)
            // lets AskAsync(…).Wait() return also in the thread of a window, of WPF or WinForms.
            using (var response = await Http
                .SendAsync(request, HttpCompletionOption.ResponseHeadersRead).ConfigureAwait(false))
                return (int)response.StatusCode;
        }
        catch (Exception exception) // Every exception: a time-out is no HttpRequestException.
        {
            // The innermost one says what is wrong with TLS, for example. (Needs the symbol TRACE,
            // which dotnet and Visual Studio define, and a plain compiler does not.)
            var innermost = exception.GetBaseException();
            Trace.TraceWarning("check-username-active: " + innermost.Message);
            return 0;
        }
    }
}
