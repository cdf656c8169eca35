// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startServe starts gvw serve on a free port, and returns its address.
func startServe(t *testing.T, dir string, options ...string) (p *process, addr string) {
	t.Helper()
	file := filepath.Join(dir, "http.port")
	_ = os.Remove(file) // of a server before
	p = start(t, dir, gvwBin, append([]string{"serve", "--port", "0", "--port_file", "http.port"}, options...)...)
	waitFor(t, "the server to listen", func() bool {
		b, _ := os.ReadFile(file)
		addr = "127.0.0.1:" + strings.TrimSpace(string(b))
		return strings.HasSuffix(string(b), "\n")
	})
	return p, addr
}

// fetch sends a request that must succeed, and returns the body of the answer.
func fetch(t *testing.T, client *http.Client, method, url, body, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s, %v", method, url, resp.Status, b, err)
	}
	return string(b)
}

// refused sends a request for a host that the server must refuse, and returns the body of the answer.
func refused(t *testing.T, url, host string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader("'save_one.model|\n"))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	resp, err := httpClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusForbidden {
		t.Fatalf("POST %s of %s: %s %s, %v", url, host, resp.Status, b, err)
	}
	return string(b)
}

var httpClient = &http.Client{Timeout: time.Minute}

// gvw serve answers as gvw -t -p does, by several models, and loads a model again when its file
// changes.
func TestServeAndReload(t *testing.T) {
	dir := t.TempDir()
	data := daemonData(100)
	writeFile(t, filepath.Join(dir, "train"), data)
	gvw(t, dir, "-d", "train", "-f", "one.model", "--quiet")
	gvw(t, dir, "-d", "train", "-f", "two.model", "-q", "ab", "-l", "2", "--quiet")
	gvw(t, dir, "-d", "train", "-t", "-i", "one.model", "-p", "p1", "--quiet")
	gvw(t, dir, "-d", "train", "-t", "-i", "two.model", "-p", "p2", "--quiet")
	one, two := readFile(t, filepath.Join(dir, "p1")), readFile(t, filepath.Join(dir, "p2"))
	p, addr := startServe(t, dir, "-i", "one.model", "second=two.model", "--quiet")
	url := "http://" + addr
	if got := fetch(t, httpClient, "POST", url+"/predict", data, ""); got != one {
		t.Errorf("the first model:\n%s\nwant\n%s", got, one)
	}
	if got := fetch(t, httpClient, "POST", url+"/predict?model=second", data, ""); got != two {
		t.Errorf("the second model:\n%s\nwant\n%s", got, two)
	}
	if got := refused(t, url+"/predict", "other.example"); !strings.Contains(got, "want localhost") {
		t.Errorf("another host: %q", got)
	}
	if got := fetch(t, httpClient, "GET", url+"/healthz", "", ""); got != "ok\n" {
		t.Errorf("health: %q", got)
	}
	gvw(t, dir, "-d", "train", "-f", "one.model", "-q", "ab", "-l", "2", "--quiet")
	waitFor(t, "the new model", func() bool { return fetch(t, httpClient, "POST", url+"/predict", data, "") == two })
	writeFile(t, filepath.Join(dir, "one.model"), "no model")
	waitFor(t, "the failed reload", func() bool {
		return strings.Contains(fetch(t, httpClient, "GET", url+"/metrics", "", ""), `gvw_reload_errors_total{model="one"} 1`)
	})
	if got := fetch(t, httpClient, "POST", url+"/predict", data, ""); got != two {
		t.Errorf("after a failed reload:\n%s", got)
	}
	endDaemon(t, p)
}

// A server that learns saves its model at SIGTERM, and its checkpoint before. HTTPS and the token keep others out.
func TestServeLearnsBehindTLS(t *testing.T) {
	dir := t.TempDir()
	gvw(t, dir, "keygen", "--dir", "keys")
	gvw(t, dir, "keygen", "--secret", "token")
	token := strings.TrimSpace(readFile(t, filepath.Join(dir, "token")))
	data := daemonData(60)
	gvw(t, dir, "-d", writeFile(t, filepath.Join(dir, "train"), data), "-f", "whole", "-p", "p", "--quiet")
	cert, key := keyFiles(t, filepath.Join(dir, "keys"))
	p, addr := startServe(t, dir, "--learn", "-f", "m", "--checkpoint", "state", "--checkpoint_every", "20", "--token_file", "token",
		"--tls_cert", cert, "--tls_key", key, "--quiet")
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(mustRead(t, filepath.Join(dir, "keys", "ca.crt"))) {
		t.Fatal("no authority")
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}}}
	url := "https://" + addr
	if got, want := fetch(t, client, "POST", url+"/predict", data, token), readFile(t, filepath.Join(dir, "p")); got != want {
		t.Errorf("answers:\n%s\nwant\n%s", got, want)
	}
	var view struct{ Examples int }
	if err := json.Unmarshal([]byte(fetch(t, client, "GET", url+"/model", "", token)), &view); err != nil || view.Examples != 60 {
		t.Errorf("the model has %d examples, want 60; %v", view.Examples, err)
	}
	if resp, err := client.Get(url + "/model"); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %v, %v", resp, err)
	} else {
		_ = resp.Body.Close()
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.wait().ends(t, "the server", 0)
	for _, name := range []string{"m", "state"} {
		if modelWeights(t, dir, name) != modelWeights(t, dir, "whole") {
			t.Errorf("%s has other weights than a run", name)
		}
	}
}

// A client of HTTP may be on another machine: it saves models below the working directory only, and
// one that names another file is told so.
func TestServeSavesBelowTheWorkingDirectory(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	p, addr := startServe(t, dir, "--learn", "-f", "m", "--quiet")
	got := fetch(t, httpClient, "POST", "http://"+addr+"/predict", "1 't|a x\n'save_"+outside+"|\n'save_../above|\n'save_here|\n't|a x\n", "")
	lines := strings.Split(got, "\n")
	if len(lines) != 5 || lines[0] != "0 t" || !strings.HasPrefix(lines[1], "error: line 2: save_") || !strings.Contains(lines[1], "relative name") ||
		!strings.HasPrefix(lines[2], "error: line 3: save_../above: ") || !strings.HasSuffix(lines[3], " t") {
		t.Errorf("got %q", got)
	}
	for name, want := range map[string]bool{outside: false, filepath.Join(dir, "..", "above"): false, filepath.Join(dir, "here"): true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v, want a file: %v", name, err, want)
		}
	}
	endDaemon(t, p)
}

// The commands of docs/serving.md over HTTP print what the page shows. Its servers listen on free
// ports instead of those of the page.
func TestServingPageOverHTTP(t *testing.T) {
	p := openPage(t, "serving.md")
	for _, line := range p.commands() {
		if !strings.Contains(line, "--daemon") && !strings.Contains(line, "--port") {
			p.shell(t, line)
		}
	}
	addresses := strings.NewReplacer()
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(p.text, -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, shown, _ := strings.Cut(step, "\n")
			if options, ok := strings.CutPrefix(command, "gvw serve "); ok {
				options, port, _ := strings.Cut(options, "--port ")
				port, more, _ := strings.Cut(port, " ")
				_, addr := startServe(t, p.dir, append(strings.Fields(options), strings.Fields(more)...)...)
				addresses = strings.NewReplacer("localhost:"+port, strings.Replace(addr, "127.0.0.1", "localhost", 1))
				continue
			}
			ran++
			got := p.shell(t, addresses.Replace(command)).stdout
			if !showing(shown).MatchString(strings.TrimRight(got, "\n")) {
				t.Errorf("$ %s\nprints:\n%s\nthe page shows:\n%s", command, tail(got, 30), shown)
			}
		}
	}
	if ran < 8 {
		t.Errorf("%d commands ran: is the page written in another way?", ran)
	}
}

// With --tls_ca only clients with a certificate of the authority are served.
func TestServeNeedsCertificates(t *testing.T) {
	dir := t.TempDir()
	gvw(t, dir, "keygen", "--dir", "keys")
	keys := filepath.Join(dir, "keys")
	writeFile(t, filepath.Join(dir, "train"), daemonData(10))
	gvw(t, dir, "-d", "train", "-b", "10", "-f", "m", "--quiet")
	cert, key := keyFiles(t, keys)
	p, addr := startServe(t, dir, "-i", "m", "--tls_cert", cert, "--tls_key", key, "--tls_ca", filepath.Join(keys, "ca.crt"), "--quiet")
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(mustRead(t, filepath.Join(keys, "ca.crt"))) {
		t.Fatal("no authority")
	}
	own, err := tls.LoadX509KeyPair(filepath.Join(keys, "rank.crt"), filepath.Join(keys, "rank.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, certificates := range [][]tls.Certificate{nil, {own}} {
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost", Certificates: certificates}, ForceAttemptHTTP2: true,
		}}
		if certificates == nil {
			if resp, err := client.Get("https://" + addr + "/healthz"); err == nil {
				_ = resp.Body.Close()
				t.Errorf("a client without a certificate: %s", resp.Status)
			}
			continue
		}
		if got := fetch(t, client, "POST", "https://"+addr+"/predict", "'one|a x1\n'two|a x2\n", ""); !strings.HasSuffix(got, " two\n") {
			t.Errorf("got %q", got)
		}
	}
	endDaemon(t, p)
}

// keyFiles returns the certificate and the key of the server that gvw keygen has made.
func keyFiles(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	return filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
}

// Options that would have no effect are refused, each by its name.
func TestServeRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ options, word string }{
		{"", "no model"},
		{"model", "NAME=MODEL"},
		{"a=m --checkpoint c", "--checkpoint"},
		{"a=m -f c", "--final_regressor"},
		{"--learn a=m b=m", "--learn"},
		{"a=m --tls_cert c", "--tls_key"},
		{"--learn --resume", "--checkpoint"},
		{"a=m --bind 0.0.0.0 --token_file=", "--token_file"},
		{"a=m --bind 0.0.0.0", "--token_file"},
		{"a=m --bind [::]", "--token_file"},
		{"--learn --bind 0.0.0.0 --tls_cert c --tls_key k", "--token_file"},
	} {
		run(t, dir, gvwBin, append([]string{"serve"}, strings.Fields(c.options)...)...).ends(t, c.options, 1, c.word)
	}
}
