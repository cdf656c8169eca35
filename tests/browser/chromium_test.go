// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is the limit for an answer of the browser, and for a change of the page, in order to
// detect a hang.
const patience = 2 * time.Minute

// chromium is a running browser with one tab. Its methods fail the test.
type chromium struct {
	t       *testing.T
	in      *os.File // to the browser
	session string

	mu       sync.Mutex
	number   int
	answers  map[int]chan answer
	messages []string // errors and warnings of the console, exceptions, and failed requests
	requests []string // URLs
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// startChromium starts a browser, or skips the test if there is none.
func startChromium(t *testing.T) *chromium {
	t.Helper()
	name, err := exec.LookPath("chromium")
	if err != nil {
		const missing = "there is no chromium: the page is not tested in a browser; scripts/setup.sh installs it"
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and " + missing)
		}
		t.Skip(missing)
	}
	toIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(name, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--no-first-run", "--no-default-browser-check", "--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe", "--user-data-dir="+filepath.Join(home, "profile"), "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home)
	cmd.ExtraFiles = []*os.File{toIn, fromOut} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = toIn.Close(), fromOut.Close() // the child has them
	c := &chromium{t: t, in: in, answers: map[int]chan answer{}}
	var reader sync.WaitGroup
	reader.Go(func() { c.read(out) })
	t.Cleanup(func() {
		// The browser ends with its children; after a kill they could still write into the profile.
		c.send("", "Browser.close", nil)
		ended := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // its exit code does not matter
		ended.Stop()
		_ = in.Close()
		reader.Wait()
	})
	var target struct{ TargetID string }
	c.decode(c.call("", "Target.createTarget", map[string]any{"url": "about:blank"}), &target)
	var attached struct{ SessionID string }
	c.decode(c.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}), &attached)
	c.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "Performance"} {
		params := map[string]any{}
		if domain == "Performance" {
			params["timeDomain"] = "threadTicks"
		}
		c.do(domain+".enable", params)
	}
	return c
}

// read distributes what the browser sends, until it ends.
func (c *chromium) read(out *os.File) {
	defer out.Close()
	in := bufio.NewReader(out)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			answer
		}
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		if to := c.answers[m.ID]; m.ID != 0 && to != nil {
			delete(c.answers, m.ID)
			to <- m.answer
		}
		c.event(m.Method, m.Params)
		c.mu.Unlock()
	}
}

// event keeps what tests ask for. The caller holds the lock.
func (c *chromium) event(method string, params json.RawMessage) {
	var p struct {
		Type      string
		Args      []struct{ Value, Description any }
		Exception json.RawMessage `json:"exceptionDetails"`
		Entry     struct{ Level, Text, URL string }
		Request   struct{ URL string }
	}
	_ = json.Unmarshal(params, &p) // events of other shapes are not needed
	switch {
	case method == "Runtime.exceptionThrown":
		c.messages = append(c.messages, string(p.Exception))
	case method == "Runtime.consoleAPICalled" && (p.Type == "error" || p.Type == "warning" || p.Type == "assert"):
		c.messages = append(c.messages, fmt.Sprint(p.Args))
	case method == "Log.entryAdded" && (p.Entry.Level == "error" || p.Entry.Level == "warning"):
		c.messages = append(c.messages, p.Entry.Text+" "+p.Entry.URL)
	case method == "Network.requestWillBeSent":
		c.requests = append(c.requests, p.Request.URL)
	}
}

// send sends a command, and returns the channel of its answer.
func (c *chromium) send(session, method string, params any) chan answer {
	to := make(chan answer, 1)
	c.mu.Lock()
	c.number++
	m := map[string]any{"id": c.number, "method": method}
	if params != nil {
		m["params"] = params
	}
	if session != "" {
		m["sessionId"] = session
	}
	c.answers[c.number] = to
	c.mu.Unlock()
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	_, _ = c.in.Write(append(text, 0)) // without a browser there is no answer
	return to
}

func (c *chromium) call(session, method string, params any) json.RawMessage {
	c.t.Helper()
	select {
	case a := <-c.send(session, method, params):
		if a.Error != nil {
			c.t.Fatalf("%s: %s", method, a.Error.Message)
		}
		return a.Result
	case <-time.After(patience):
		c.t.Fatalf("%s: no answer within %v", method, patience)
	}
	return nil
}

// do calls a method of the tab.
func (c *chromium) do(method string, params any) json.RawMessage {
	c.t.Helper()
	return c.call(c.session, method, params)
}

func (c *chromium) decode(text json.RawMessage, to any) {
	c.t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		c.t.Fatalf("%v in %s", err, text)
	}
}

// eval evaluates an expression of JavaScript, which may be a promise, into to; nil: the value is not
// needed.
func (c *chromium) eval(expression string, to any) {
	c.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	c.decode(c.do("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}), &r)
	if r.ExceptionDetails != nil {
		c.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if to != nil {
		c.decode(r.Result.Value, to)
	}
}

// until waits until an expression is true.
func (c *chromium) until(what, expression string) {
	c.t.Helper()
	var ok bool
	c.eval(fmt.Sprintf(`new Promise(done => {
		const end = performance.now() + %d, look = () => { if (%s) done(true); else if (performance.now() > end) done(false); else setTimeout(look, 50); };
		look();
	})`, patience.Milliseconds()/2, expression), &ok)
	if !ok {
		var text string
		c.eval("document.body.innerText", &text)
		c.t.Fatalf("within %v not: %s; the page:\n%s\nmessages: %v", patience/2, what, text, c.console())
	}
}

// visit opens a page, and waits until it is loaded.
func (c *chromium) visit(url string) {
	c.t.Helper()
	c.do("Page.navigate", map[string]any{"url": url})
	c.until("the page is loaded", "location.href !== 'about:blank' && document.readyState === 'complete'")
}

// console returns the messages so far.
func (c *chromium) console() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.messages...)
}

// elsewhere returns the requests to other servers.
func (c *chromium) elsewhere(base string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, url := range c.requests {
		if !strings.HasPrefix(url, base) && url != "about:blank" && !strings.HasPrefix(url, "data:") {
			out = append(out, url)
		}
	}
	return out
}

// view sets the size of the window and the colour scheme.
func (c *chromium) view(width, height int, scheme string) {
	c.t.Helper()
	c.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	c.do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	c.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", nil)
}

// picture writes a picture of the whole page if GVW_SCREENSHOTS is set.
func (c *chromium) picture(name string) {
	c.t.Helper()
	dir := os.Getenv("GVW_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	c.decode(c.do("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}), &shot)
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), b, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// metric returns a metric of the tab, such as ScriptDuration in seconds of processor time.
func (c *chromium) metrics() map[string]float64 {
	c.t.Helper()
	var m struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	c.decode(c.do("Performance.getMetrics", nil), &m)
	all := map[string]float64{}
	for _, v := range m.Metrics {
		all[v.Name] = v.Value
	}
	return all
}
