// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMemoryLimit(t *testing.T) {
	for _, c := range []struct {
		mb, heap int
		want     uint64
	}{
		{256, 100, 256<<20 - 100<<20 - 256<<20/10},
		{3000, 100, 3000<<20 - 100<<20 - 3000<<20/10},
		{256, 256, 0},
	} {
		task := Task{MemoryMB: c.mb, HeapMB: c.heap}
		got, limited := task.MemoryLimit()
		if !limited || got != c.want {
			t.Errorf("%+v: %d, %v, want %d", c, got, limited, c.want)
		}
		// A container of the size that MemoryFor returns for a number of bytes leaves that number.
		advised := Task{MemoryMB: task.MemoryFor(got), HeapMB: c.heap}
		if again, _ := advised.MemoryLimit(); again < got || advised.MemoryMB > c.mb+int(math.Ceil(float64(c.heap)/8)) {
			t.Errorf("%+v: %d MB are advised, which leave %d", c, advised.MemoryMB, again)
		}
	}
	if _, limited := (Task{}).MemoryLimit(); limited {
		t.Error("got a limit for a container without one")
	}
}

func TestHeapOfJavaOptions(t *testing.T) {
	for options, want := range map[string]int{
		"":                          0,
		"-Xmx100m -XX:+UseSerialGC": 100,
		"-Xmx2g":                    2048,
		"-Xmx1048576k":              1024,
		"-Xmx1073741824":            1024,
		"-Xmx1G -Xmx200M":           200,
		"-Xmx":                      0,
		"-Xmxm -Xmx-3m -Xmx99999999999999999999g -Xmx9999999999999999t": 0,
	} {
		if got := heapMB(options); got != want {
			t.Errorf("%q: %d MB, want %d", options, got, want)
		}
	}
}

func TestLinesForHadoop(t *testing.T) {
	task := Task{Prefix: "reporter:"}
	for _, c := range []struct{ got, want string }{
		{string(task.AppendStatus(nil, "pass 2/20, loss 0.5")), "reporter:status:pass 2/20, loss 0.5\n"},
		{string(task.AppendStatus([]byte("x"), "a\nb\r\nc")), "xreporter:status:a b c\n"},
		{string(task.AppendCounter(nil, "gvw", "examples", 17)), "reporter:counter:gvw,examples,17\n"},
		{string(task.AppendCounter(nil, "a,b", "c\nd", -1)), "reporter:counter:a b,c d,-1\n"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	long := string(task.AppendStatus(nil, strings.Repeat("ä", 5000)))
	if len(long) > maxLine || !strings.HasSuffix(long, "…\n") || strings.ContainsRune(long, '�') {
		t.Errorf("a long status has %d bytes and ends with %q", len(long), long[len(long)-8:])
	}
}

// cut returns the number of splits of a file by the loop of FileInputFormat in Hadoop's old
// interface.
func cut(f File, size int64) int {
	if !f.splittable() || f.Bytes == 0 {
		return 1
	}
	n, left := 0, f.Bytes
	for float64(left)/float64(size) > 1.1 {
		n++
		left -= size
	}
	if left > 0 {
		n++
	}
	return n
}

func TestMapsAreHadoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := File{Name: rapid.SampledFrom([]string{"a", "a.gz", "a.bz2"}).Draw(t, "name"), Bytes: rapid.Int64Range(0, 1<<20).Draw(t, "bytes")}
		size := rapid.Int64Range(max(1, f.Bytes/1000), 1<<20).Draw(t, "size")
		if got, want := f.maps(size), cut(f, size); got != want {
			t.Fatalf("%+v in pieces of %d: %d maps, want %d", f, size, got, want)
		}
	})
}

func TestSplitSize(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		files []File
		want  int
		got   int
	}{
		"one file":          {[]File{{"a", 100 * mb}}, 4, 4},
		"one file, one map": {[]File{{"a", 100 * mb}}, 1, 1},
		"as many as files":  {[]File{{"a", mb}, {"b", 7 * mb}, {"c", 0}}, 3, 3},
		"more files":        {[]File{{"a", mb}, {"b", 7 * mb}, {"c", 0}}, 2, 3},
		"more maps":         {[]File{{"a", 30 * mb}, {"b", 10 * mb}}, 8, 8},
		"compressed":        {[]File{{"a.gz", 100 * mb}, {"b.zst", mb}}, 4, 2},
		"mixed":             {[]File{{"a.gz", 100 * mb}, {"b", 90 * mb}}, 4, 4},
		"bzip2 is cut":      {[]File{{"a.bz2", 100 * mb}}, 4, 4},
		"equal files":       {[]File{{"a", 10 * mb}, {"b", 10 * mb}}, 3, 2}, // both are cut, or none
	} {
		size, got, err := SplitSize(c.files, c.want)
		if err != nil || got != c.got {
			t.Errorf("%s: %d maps of pieces of %d, want %d; %v", name, got, size, c.got, err)
		}
		if n := Maps(c.files, size); err == nil && n != got {
			t.Errorf("%s: pieces of %d make %d maps, not %d", name, size, n, got)
		}
	}
	for _, c := range []struct {
		files []File
		want  int
	}{{nil, 3}, {[]File{{"a", 1}}, 0}} {
		if _, _, err := SplitSize(c.files, c.want); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

func TestInputsOfAListing(t *testing.T) {
	got, err := Inputs(`Found 5 items
-rw-r--r--   3 ann users   4614367 2026-11-21 22:19 hdfs://nn:8020/in/part.3
-rw-r--r--   3 ann users         0 2026-11-21 22:19 hdfs://nn:8020/in/_SUCCESS
drwxr-xr-x   - ann users         0 2026-11-21 22:19 hdfs://nn:8020/in/sub
-rw-r--r--   1 ann users       123 2026-11-21 22:19 /in/a name with  blanks
-rw-r--r--   1 ann users       123 2026-11-21 22:19 /in/.hidden
`)
	want := []File{{"/in/a name with  blanks", 123}, {"hdfs://nn:8020/in/part.3", 4614367}}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := Inputs("-rw-r--r--   1 ann users       many 2026-11-21 22:19 /in/a\n"); err == nil {
		t.Error("got no error for a listing without sizes")
	}
}

func TestFit(t *testing.T) {
	for name, c := range map[string]struct {
		room      Room
		mapMB, am int
		now, idle int
	}{
		"empty":          {Room{}, 256, 384, 0, 0},
		"two nodes":      {Room{Free: []int{768, 768}, All: []int{768, 768}}, 256, 384, 4, 4},
		"busy":           {Room{Free: []int{768, 128}, All: []int{768, 768}}, 256, 384, 1, 4},
		"no room for it": {Room{Free: []int{300}, All: []int{300}}, 100, 384, 0, 0},
		"master beside":  {Room{Free: []int{1000, 400}, All: []int{1000, 400}}, 500, 384, 2, 2},
		"steps":          {Room{Free: []int{2048}, All: []int{2048}, Step: 512}, 513, 100, 1, 1},
	} {
		if now, idle := c.room.Fit(c.mapMB, c.am); now != c.now || idle != c.idle {
			t.Errorf("%s: %d now, %d idle, want %d, %d", name, now, idle, c.now, c.idle)
		}
	}
}

func TestNodesOfAnAnswer(t *testing.T) {
	const two = `{"nodes":{"node":[{"state":"RUNNING","availMemoryMB":512,"usedMemoryMB":256},{"state":"LOST","availMemoryMB":9,"usedMemoryMB":9}]}}`
	const one = `{"nodes":{"node":{"state":"RUNNING","availMemoryMB":512,"usedMemoryMB":256}}}`
	for _, answer := range []string{two, one} {
		got, err := Nodes([]byte(answer))
		if err != nil || cmp.Diff(Room{Free: []int{512}, All: []int{768}}, got) != "" {
			t.Errorf("%s: %+v, %v", answer, got, err)
		}
	}
	if got, err := Nodes([]byte(`{"nodes":null}`)); err != nil || got.All != nil {
		t.Errorf("a cluster without nodes: %+v, %v", got, err)
	}
	if _, err := Nodes([]byte("<html>")); err == nil {
		t.Error("got no error for a response that is not JSON")
	}
}

func TestYarnSite(t *testing.T) {
	site, err := Properties([]byte(`<?xml version="1.0"?>
<configuration>
  <property><name>a</name><value> 1 </value><final>true</final></property>
  <property><name>a</name><value>2</value></property>
  <property><name>b</name><value>1</value></property>
  <property><name>b</name><value>2</value></property>
</configuration>`))
	if err != nil || cmp.Diff(map[string]string{"a": "1", "b": "2"}, site) != "" {
		t.Errorf("%v, %v", site, err)
	}
	if _, err := Properties([]byte("no xml")); err == nil {
		t.Error("got no error for a file that is not XML")
	}
	for name, c := range map[string]struct {
		site map[string]string
		want []string
	}{
		"none":    {nil, nil},
		"host":    {map[string]string{"yarn.resourcemanager.hostname": "rm"}, []string{"rm:8088"}},
		"address": {map[string]string{"yarn.resourcemanager.hostname": "rm", "yarn.resourcemanager.webapp.address": "rm:99"}, []string{"rm:99"}},
		"several": {map[string]string{
			"yarn.resourcemanager.ha.rm-ids": "rm1, rm2", "yarn.resourcemanager.hostname.rm1": "a", "yarn.resourcemanager.webapp.address.rm2": "b:99",
		}, []string{"a:8088", "b:99"}},
		"a reference": {map[string]string{"yarn.resourcemanager.webapp.address": "${yarn.resourcemanager.hostname}:8088", "yarn.resourcemanager.hostname": "rm"}, []string{"rm:8088"}},
	} {
		if d := cmp.Diff(c.want, ResourceManagers(c.site)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
