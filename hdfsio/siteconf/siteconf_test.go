// SPDX-License-Identifier: Apache-2.0

package siteconf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// load writes site files and reads them. Each property is name=value, or name=value! if
// it is final.
func load(t *testing.T, core, site string) *Conf {
	t.Helper()
	dir := t.TempDir()
	for name, props := range map[string]string{"core-site.xml": core, "hdfs-site.xml": site} {
		var b strings.Builder
		b.WriteString("<?xml version=\"1.0\"?>\n<?xml-stylesheet type=\"text/xsl\" href=\"configuration.xsl\"?>\n<!-- a comment -->\n<configuration xmlns:xi=\"http://www.w3.org/2001/XInclude\">\n")
		for line := range strings.Lines(props) {
			key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			switch {
			case strings.HasPrefix(key, "<"):
				b.WriteString(line)
			case ok:
				value, final := strings.CutSuffix(value, "!")
				b.WriteString("<property><name>" + key + "</name><value>" + value + "</value>")
				if final {
					b.WriteString("<final>true</final>")
				}
				b.WriteString("<description>no matter</description></property>\n")
			}
		}
		b.WriteString("</configuration>\n")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	more := "<configuration><property><name>included</name><value>yes</value></property></configuration>"
	if err := os.WriteFile(filepath.Join(dir, "more.xml"), []byte(more), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(dir, func(name string) string { return map[string]string{"USER": "ada"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestProperties(t *testing.T) {
	c := load(t, `
		a=1
		b=2!
		c=${a}/${b}/${none}/${c2}
		c2=<![CDATA[x & y]]>
		loop=${loop}
		who=${env.USER} ${env.NOBODY:-else} ${env.NOBODY}
		many=${many}${many}${many}
		open=${a
		list= x , y,,z
		yes=TRUE
		<xi:include href="more.xml" ></xi:include>
		<xi:include href="missing.xml"><xi:fallback/></xi:include>
	`, "a=3\nb=4\n")
	for name, want := range map[string]string{
		"a": "3", "b": "2", "c": "3/2/${none}/x & y", "who": "ada else ${env.NOBODY}", "open": "${a", "none": "", "included": "yes",
	} {
		if got := c.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := c.Get("loop"); !strings.Contains(got, "${loop}") {
		t.Errorf("a property that refers to itself is %q", got)
	}
	if got := c.Get("many"); len(got) > maxValue*10 {
		t.Errorf("a property that refers to itself three times has %d bytes", len(got))
	}
	if diff := cmp.Diff([]string{"x", "y", "z"}, c.List("list")); diff != "" {
		t.Error(diff)
	}
	if !c.Is("yes") || c.Is("a") {
		t.Error("Is takes no for yes")
	}
	c.Set("b", "5")
	if c.Get("b") != "5" {
		t.Error("Set does nothing")
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir, nil); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "HADOOP_CONF_DIR") {
		t.Errorf("an empty folder: %v", err)
	}
	for _, text := range []string{"", "no xml", "<html></html>", "<configuration><property>", `<configuration><include href="core-site.xml"/></configuration>`} {
		name := filepath.Join(dir, "core-site.xml")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNameNodes(t *testing.T) {
	alone := load(t, "fs.defaultFS=hdfs://gate:9000/", "dfs.namenode.http-address=0.0.0.0:50070")
	ha := load(t, "fs.defaultFS=hdfs://big", `
		dfs.nameservices=big,other
		dfs.ha.namenodes.big=a,b
		dfs.namenode.rpc-address.big.a=h1:8020
		dfs.namenode.rpc-address.big.b=h2
		dfs.namenode.http-address.big.a=h1:1234
		dfs.ha.namenodes.other=x
	`)
	for _, c := range []struct {
		conf      *Conf
		authority string
		service   Service
		want      []string
	}{
		{nil, "h", RPC, []string{"h:8020"}},
		{nil, "h:9000", RPC, []string{"h:9000"}},
		{nil, "[::1]:9000", RPC, []string{"[::1]:9000"}},
		{nil, "h:9000", HTTP, []string{"h:9870"}},
		{nil, "h:9000", HTTPS, []string{"h:9871"}},
		{alone, "", RPC, []string{"gate:9000"}},
		{alone, "", HTTP, []string{"gate:50070"}},
		{alone, "gate:9000", HTTP, []string{"gate:50070"}},
		{alone, "else:9000", HTTP, []string{"else:9870"}},
		{ha, "", RPC, []string{"h1:8020", "h2:8020"}},
		{ha, "big", HTTP, []string{"h1:1234", "h2:9870"}},
		{ha, "host", RPC, []string{"host:8020"}},
	} {
		got, err := c.conf.NameNodes(c.authority, c.service)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%q, %s: %v (-want +got)\n%s", c.authority, c.service.what, err, diff)
		}
	}
	if _, err := ha.NameNodes("other", RPC); err == nil || !strings.Contains(err.Error(), "dfs.namenode.rpc-address.other.x") {
		t.Errorf("a name node without an address: %v", err)
	}
	if _, err := (&Conf{}).NameNodes("", RPC); err == nil || !strings.Contains(err.Error(), "fs.defaultFS") {
		t.Errorf("no default: %v", err)
	}
	if _, err := load(t, "fs.defaultFS=file:///", "").NameNodes("", RPC); err == nil || !strings.Contains(err.Error(), "file:///") {
		t.Errorf("a default that is no HDFS: %v", err)
	}
	for authority, want := range map[string][]string{"h": {"h:9870"}, "h:14000": {"h:14000"}, "big": {"h1:1234", "h2:9870"}} {
		if got, err := ha.Web(authority, HTTP); err != nil || !cmp.Equal(want, got) {
			t.Errorf("webhdfs://%s: %v, %v, want %v", authority, got, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("<configuration><property><name>a</name><value>${b}${env.X:-y}</value></property><property><name>b</name><value>${a}</value></property></configuration>")
	f.Add("<configuration><property><name>a</name>")
	f.Fuzz(func(t *testing.T, text string) {
		c := &Conf{props: map[string]property{}}
		if err := c.read(strings.NewReader(text), t.TempDir(), 0); err != nil {
			return
		}
		if got := c.Get("a"); len(got) > maxValue+len(text)*maxRefs {
			t.Errorf("%d bytes", len(got))
		}
	})
}
