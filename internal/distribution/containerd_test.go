package distribution

import "testing"

func TestContainerd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   string
		is   func(Containerd) bool
		want bool
	}{
		"k3s' own":                             {"k3s", func(c Containerd) bool { return c.Runs("containerd://2.0.5-k3s2") }, true},
		"with the minor version of Kubernetes": {"k3s", func(c Containerd) bool { return c.Runs("containerd://2.0.5-k3s1.32") }, true},
		"the host's":                           {"k3s", func(c Containerd) bool { return c.Runs("containerd://1.7.27") }, false},
		"Docker":                               {"k3s", func(c Containerd) bool { return c.Runs("docker://28.0.4") }, false},
		"k0s has no mark in it":                {"k0s", func(c Containerd) bool { return c.Runs("containerd://1.7.27") }, true},
		"k0s with CRI-O":                       {"k0s", func(c Containerd) bool { return c.Runs("cri-o://1.30.0") }, false},
		"its socket":                           {"k3s", func(c Containerd) bool { return c.HasSocket("/run/k3s/containerd/containerd.sock") }, true},
		"its socket through the link":          {"k3s", func(c Containerd) bool { return c.HasSocket("/var/run/k3s/containerd/containerd.sock") }, true},
		"the default socket":                   {"k3s", func(c Containerd) bool { return c.HasSocket("/run/containerd/containerd.sock") }, false},
		"no socket":                            {"k3s", func(c Containerd) bool { return c.HasSocket("") }, false},
		"its template":                         {"k3s", func(c Containerd) bool { return c.Reads("/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl") }, true},
		"a drop-in": {"k3s", func(c Containerd) bool {
			return c.Reads("/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/99-nvidia.toml")
		}, true},
		"another data directory":                {"k3s", func(c Containerd) bool { return c.Reads("/data/k3s/agent/etc/containerd/config.toml") }, true},
		"that of RKE2":                          {"k3s", func(c Containerd) bool { return c.Reads("/var/lib/rancher/rke2/agent/etc/containerd/config.toml") }, false},
		"that of k3s on RKE2":                   {"RKE2", func(c Containerd) bool { return c.Reads("/var/lib/rancher/k3s/agent/etc/containerd/config.toml") }, false},
		"the default file":                      {"k3s", func(c Containerd) bool { return c.Reads("/etc/containerd/config.toml") }, false},
		"no file":                               {"k3s", func(c Containerd) bool { return c.Reads("") }, false},
		"a file next to the directory":          {"k3s", func(c Containerd) bool { return c.Reads("/var/lib/rancher/k3s/agent/etc/containerd.toml") }, false},
		"k0s' drop-in":                          {"k0s", func(c Containerd) bool { return c.Reads("/etc/k0s/containerd.d/nvidia.toml") }, true},
		"another data directory is k3s' alone":  {"k0s", func(c Containerd) bool { return c.Reads("/data/agent/etc/containerd/config.toml") }, false},
		"a distribution at the default differs": {"Amazon EKS", Containerd.Differs, false},
	} {
		d, err := Named(c.of)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.is(d.Containerd); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
