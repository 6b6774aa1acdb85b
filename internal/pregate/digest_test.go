package pregate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// A verdict was kept although the playbook, the chart or the values before its gate had changed.
func TestDigestsDependOnWhatPreparationsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("nodes.yaml", "- hosts: all")
	write("hosts", "gpu-01")
	s := &site.Site{Prepare: []site.Prepare{{Gate: "node", Ansible: &site.Ansible{Playbook: filepath.Join(dir, "nodes.yaml"), Inventory: filepath.Join(dir, "hosts")}}}}
	digests := func() string {
		raw, err := Digests(s)
		if err != nil || len(raw) == 0 {
			t.Fatal(string(raw), err)
		}
		return string(raw)
	}
	for _, tt := range []struct {
		name, content string
		same          bool
	}{
		{"nodes.yaml", "- hosts: gpus", false},
		{"hosts", "gpu-01 password=hunter2", false},
		{"roles/driver/tasks/main.yaml", "- command: reboot", false},
		{"group_vars/all.yaml", "driver: 580", false},
		{"evidence/run/journal.jsonl", "another run", true},
	} {
		before := digests()
		write(tt.name, tt.content)
		if after := digests(); (after == before) != tt.same {
			t.Errorf("%s changed: same digests %t, want %t", tt.name, after == before, tt.same)
		}
	}
	if strings.Contains(digests(), "hunter2") {
		t.Error("a secret is in the digests")
	}
	for what, p := range map[string]site.Helm{
		"a local chart":  {Chart: filepath.Join(dir, "chart")},
		"a mirror":       {Chart: "c", Repository: "https://charts.example.com"},
		"a values file":  {Chart: "oci://charts.example.com/c", ValuesFiles: []string{filepath.Join(dir, "values.yaml")}},
		"another source": {Chart: "c", Repository: "https://other.example.com"},
	} {
		s = &site.Site{Prepare: []site.Prepare{{Gate: "gpustack", Helm: &p}}}
		s.Reach.Charts = map[string]string{"https://charts.example.com/c": filepath.Join(dir, "chart")}
		var got [2]string
		for i, content := range []string{"a: 1", "a: 2"} {
			write("chart/values.yaml", content)
			write("values.yaml", content)
			raw, err := Digests(s)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = string(raw)
		}
		if changed := got[0] != got[1]; changed != (what != "another source") {
			t.Errorf("%s: the digests are %s, then %s", what, got[0], got[1])
		}
	}
	if raw, err := Digests(&site.Site{}); raw != nil || err != nil {
		t.Errorf("a site without playbooks: %s, %v", raw, err)
	}
}

// The files behind a linked directory were left out, although Helm and Ansible read them: they changed, and the
// verdict was kept.
func TestDigestsFollowLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ link, target, file string }{
		"a role":                  {"site/roles/driver", "driver", "driver/tasks/main.yaml"},
		"all roles":               {"site/roles", "roles", "roles/driver/tasks/main.yaml"},
		"templates of a chart":    {"site/chart/templates", "templates", "templates/pod.yaml"},
		"the directory of a file": {"site/files/keys", "keys", "keys/repository.asc"},
		"a file":                  {"site/vars/all.yaml", "all.yaml", "all.yaml"},
		"a link to a link":        {"site/chart/crds", "latest", "crds/gpu.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, content string) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			link := func(name, target string) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(filepath.Join(dir, target), path)); err != nil {
					t.Fatal(err)
				}
			}
			write("site/nodes.yaml", "- hosts: all")
			write("site/chart/Chart.yaml", "name: a")
			link("site/files/around", "site") // a loop
			link("site/files/absent", "absent")
			link("latest", "crds")
			link(c.link, c.target)
			s := &site.Site{Prepare: []site.Prepare{
				{Gate: "node", Playbook: filepath.Join(dir, "site/nodes.yaml")},
				{Gate: "gpustack", Helm: &site.Helm{Chart: filepath.Join(dir, "site/chart")}},
			}}
			var got [2]string
			for i, content := range []string{"a: 1", "a: 2"} {
				write(c.file, content)
				raw, err := Digests(s)
				if err != nil {
					t.Fatal(err)
				}
				got[i] = string(raw)
			}
			if got[0] == got[1] {
				t.Errorf("%s changed, and the digests remain %s", c.file, got[0])
			}
		})
	}
}

// A local chart without files has no digest, so that no change of it would be seen. One that is missing is the
// preparation's to report, and a chart of a registry is not a file.
func TestDigestsOfChartWithoutFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for chart, want := range map[string]string{dir: dir + " has no files", filepath.Join(dir, "absent"): "", "oci://charts.example.com/c": ""} {
		_, err := Digests(&site.Site{Prepare: []site.Prepare{{Gate: "gpustack", Helm: &site.Helm{Chart: chart}}}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", chart, err, want)
		}
	}
}
