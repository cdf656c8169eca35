// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The section of a profile in config begins with "profile", except that of the profile default.
func TestSectionsOfProfilesInConfig(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	text := "[default]\nregion=a\n[profile default2]\nregion=b\n[default2]\nregion=c\n[profile default]\nregion=d\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for profile, want := range map[string]string{"": "a", "default": "a", "default2": "b"} {
		env := map[string]string{"HOME": filepath.Dir(config), "AWS_CONFIG_FILE": config, "AWS_PROFILE": profile}
		if got := newChain(func(name string) string { return env[name] }).profile("region"); got != want {
			t.Errorf("profile %q: got region %q, want %q", profile, got, want)
		}
	}
}

// The keys of a profile are those of one file: credentials, or config if credentials has none.
func TestKeysOfAProfileAreOfOneFile(t *testing.T) {
	const (
		all  = "aws_access_key_id=ID\naws_secret_access_key=SECRET\naws_session_token=TOKEN\nregion=REGION\n"
		long = "aws_access_key_id=ID\naws_secret_access_key=SECRET\n" // no session
	)
	as := func(text, who string) string {
		return strings.NewReplacer("ID", who+"-id", "SECRET", who+"-secret", "TOKEN", who+"-token", "REGION", who+"-region").Replace(text)
	}
	for _, c := range []struct {
		what, credentials, config string
		want                      keys
		region, fails             string
	}{
		{what: "both files", credentials: as(all, "a"), config: as(all, "b"), want: keys{id: "a-id", secret: "a-secret", token: "a-token"}, region: "a-region"},
		{what: "a session in config only", credentials: as(long, "a"), config: as(all, "b"), want: keys{id: "a-id", secret: "a-secret"}, region: "b-region"},
		{what: "keys in config only", credentials: "region=a-region\n", config: as(all, "b"), want: keys{id: "b-id", secret: "b-secret", token: "b-token"}, region: "a-region"},
		{what: "no secret", credentials: "aws_access_key_id=a-id\n", config: as(all, "b"), region: "b-region", fails: "credentials has only one of"},
	} {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, ".aws"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"credentials": "[work]\n" + c.credentials, "config": "[profile work]\n" + c.config} {
			if err := os.WriteFile(filepath.Join(home, ".aws", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		env := map[string]string{"HOME": home, "AWS_PROFILE": "work"}
		for range 20 {
			chain := newChain(func(name string) string { return env[name] })
			k, err := chain.get()
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("%s: got %v, want %q", c.what, err, c.fails)
				}
			} else if err != nil || k != c.want {
				t.Fatalf("%s: got %+v, %v; want %+v", c.what, k, err, c.want)
			}
			if got := chain.profile("region"); got != c.region {
				t.Fatalf("%s: got region %q, want %q", c.what, got, c.region)
			}
		}
	}
}
