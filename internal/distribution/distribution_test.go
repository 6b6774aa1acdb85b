package distribution

import (
	"regexp"
	"strings"
	"testing"
)

// Every block has a source, each row one mark, and each expression an example that no other row's matches.
func TestData(t *testing.T) {
	t.Parallel()
	list, err := all()
	if err != nil || len(list) < 10 {
		t.Fatalf("%d distributions, %v", len(list), err)
	}
	names := map[string]bool{}
	for _, d := range list {
		if names[d.Name] {
			t.Errorf("%s is listed twice", d.Name)
		}
		names[d.Name] = true
		for block, b := range map[string]struct {
			source string
			zero   bool
		}{
			"marks": {d.Marks.Source, false}, "logs": {d.Logs.Source, d.Logs == Logs{}}, "paths": {d.Paths.Source, d.Paths == Paths{}},
			"containerd": {d.Containerd.Source, !d.Containerd.Differs()}, "skew": {d.Skew.Source, d.Skew == Skew{}}, "packaged": {d.Packaged.Source, len(d.Packaged.Deployments) == 0},
		} {
			if !b.zero && !strings.Contains(b.source, "https://") {
				t.Errorf("%s: %s has no source: %q", d.Name, block, b.source)
			}
		}
		marks := 0
		for _, mark := range []string{d.Marks.Kubelet, d.Marks.OSImage, d.Marks.Label, d.Marks.Annotation} {
			if mark != "" {
				marks++
			}
		}
		if marks != 1 {
			t.Errorf("%s has %d marks, want 1", d.Name, marks)
		}
		if e := d.Containerd.Embedded; e != "" && !regexp.MustCompile(e).MatchString(d.Containerd.Example) {
			t.Errorf("%s: the runtime %q is not of its expression", d.Name, d.Containerd.Example)
		}
		if d.Marks.Example == "" {
			continue
		}
		found, err := Of(Node{Kubelet: d.Marks.Example, OSImage: d.Marks.Example})
		if err != nil || found.Name != d.Name {
			t.Errorf("%q is recognised as %q, %v, want %s", d.Marks.Example, found.Name, err, d.Name)
		}
	}
}

// The gate finds device plugins by the end of the kubelet's directory, below each kubelet root of the data.
func TestKubeletRoots(t *testing.T) {
	t.Parallel()
	list, err := all()
	if err != nil {
		t.Fatal(err)
	}
	roots := 0
	for _, d := range list {
		if d.Paths.Kubelet == "" {
			continue
		}
		roots++
		if !strings.HasSuffix(d.Paths.Kubelet, "/kubelet") {
			t.Errorf("kubelet root %s of %s does not end with /kubelet: gate gpustack would not see device plugins", d.Paths.Kubelet, d.Name)
		}
	}
	if roots < 5 {
		t.Errorf("%d kubelet roots", roots)
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	if d, err := Named("k3s"); err != nil || d.Spine != "k3s" || len(d.Packaged.Deployments) != 4 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := Named("k4s"); err == nil || !strings.Contains(err.Error(), `unknown distribution "k4s"`) {
		t.Error(err)
	}
}
