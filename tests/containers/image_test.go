// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"context"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/opencontainers/go-digest"
	core "k8s.io/api/core/v1"
)

const dockerfile = repository + "/packaging/Dockerfile"

// image is the configuration of the base image, which the linter would ask its registry for.
type image struct{}

func (image) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	config := []byte(`{"architecture":"amd64","os":"linux","config":{"Env":["PATH=/usr/local/go/bin:/usr/bin:/bin"],"WorkingDir":"/go"},"rootfs":{"type":"layers"}}`)
	return ref, digest.FromBytes(config), config, nil
}

// stages parses the Dockerfile.
func stages(t *testing.T) []instructions.Stage {
	t.Helper()
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDockerfileIsClean checks the Dockerfile by all rules of docker build --check.
func TestDockerfileIsClean(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	lint := func(text []byte) []string {
		t.Helper()
		source := llb.NewSourceMap(nil, "Dockerfile", "Dockerfile", text)
		source.Definition = &llb.Definition{}
		results, err := dockerfile2llb.DockerfileLint(t.Context(), text, dockerfile2llb.ConvertOpt{MetaResolver: image{}, SourceMap: source})
		if err != nil {
			t.Fatal(err)
		}
		if results.Error != nil {
			t.Fatal(results.Error.Message)
		}
		var found []string
		for _, w := range results.Warnings {
			found = append(found, w.RuleName+": "+w.Detail)
		}
		return found
	}
	for _, fault := range lint(text) {
		t.Error(fault)
	}
	// The linter is at work: this rule has a fault.
	worse := bytes.Replace(text, []byte(`ENTRYPOINT ["gvw"]`), []byte(`ENTRYPOINT gvw`), 1)
	if found := lint(worse); len(found) != 1 || !strings.HasPrefix(found[0], linter.RuleJSONArgsRecommended.Name) {
		t.Errorf("an entrypoint by a shell: %q", found)
	}
}

// TestImage builds the programs by the command of the Dockerfile, checks that they need nothing else,
// and runs them as a container of the image: with its user and its entrypoint.
func TestImage(t *testing.T) {
	if !inNamespaces(t) {
		return
	}
	all := stages(t)
	build, final := all[0], all[len(all)-1]
	out := t.TempDir() + "/"
	for _, c := range build.Commands {
		if c, ok := c.(*instructions.RunCommand); ok && strings.Contains(c.CmdLine[0], "go build") {
			cmd := exec.Command("sh", "-c", strings.ReplaceAll(c.CmdLine[0], "/out/", out))
			cmd.Dir = filepath.FromSlash(repository)
			cmd.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH=amd64", "VERSION=v9.8.7", "COMMIT=0123456789abcdef", "DATE=2026-11-24")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", c.CmdLine[0], err, text)
			}
		}
	}
	programs = out
	var user, entry, copied string
	for _, c := range final.Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.EntrypointCommand:
			entry = strings.Join(c.CmdLine, " ")
		case *instructions.CopyCommand:
			copied += c.From + ":" + strings.Join(c.SourcePaths, ",") + ">" + c.DestPath + " "
		}
	}
	if final.BaseName != "scratch" || user != "65532:65532" || entry != "gvw" || !strings.Contains(copied, build.Name+":/out/>/usr/bin/ ") {
		t.Errorf("the image is from %s, with user %s, entrypoint %s and copies %s", final.BaseName, user, entry, copied)
	}
	for _, name := range []string{"gvw", "spanning_tree"} {
		program, err := elf.Open(out + name)
		if err != nil {
			t.Fatal(err)
		}
		libraries, err := program.ImportedLibraries()
		if err != nil || len(libraries) > 0 || program.Section(".interp") != nil {
			t.Errorf("%s needs %q (%v): want a static program", name, libraries, err)
		}
		_ = program.Close() // nothing was written
	}
	m := newMachine(t)
	id := int64(65532)
	pod := core.PodTemplateSpec{Spec: core.PodSpec{
		SecurityContext: &core.PodSecurityContext{RunAsUser: &id, RunAsGroup: &id, FSGroup: &id},
		Containers:      []core.Container{{VolumeMounts: []core.VolumeMount{{Name: "data", MountPath: "/data"}}}},
	}}
	data := m.volume(pod, map[string][]byte{"train.vw": examples()}, 0o640)
	run := func(words ...string) *container {
		pod.Spec.Containers[0].Command = append([]string{entry}, words...)
		return m.start(pod, instance{host: "c", ip: "127.0.0.1", volumes: map[string]string{"data": data}})
	}
	version := run("version")
	one := run("-d", "/data/train.vw", "-f", "/data/one", "--quiet", "--passes", "2", "-c")
	several := run("run", "-n", "3", "--log_dir", "/data/logs", "--", "-d", "/data/train.vw", "-f", "/data/several", "--hybrid", "1:3", "--loss_function", "logistic")
	refused := run("-d", "/data/train.vw", "-f", "/model", "--quiet")
	succeed(t, []*container{version, one, several})
	if !strings.Contains(version.log.String(), "v9.8.7") {
		t.Errorf("version: %s", &version.log)
	}
	if err := refused.Wait(); err == nil || !strings.Contains(refused.log.String(), "/model") {
		t.Errorf("a model in the root file system: %v\n%s", err, &refused.log)
	}
	for _, name := range []string{"one", "several"} {
		if _, err := os.Stat(filepath.Join(data, name)); err != nil {
			t.Errorf("%v\n%s%s", err, &one.log, &several.log)
		}
	}
}

// TestImageBuilds builds the image where a builder is that works.
func TestImageBuilds(t *testing.T) {
	t.Parallel()
	for _, builder := range [][]string{{"docker", "buildx", "inspect", "--bootstrap"}, {"podman", "info"}, {"buildah", "info"}} {
		if exec.CommandContext(t.Context(), builder[0], builder[1:]...).Run() != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), builder[0], "build", "-f", "packaging/Dockerfile", "-t", "gvw:test", ".")
		cmd.Dir = filepath.FromSlash(repository)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", cmd.Args, err, text)
		}
		return
	}
	t.Log("no builder works here (docker, podman, buildah): the Dockerfile is only linted, and its command run")
}
