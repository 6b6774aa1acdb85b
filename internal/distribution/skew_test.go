package distribution

import "testing"

func TestMinor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"v1.33.4+k3s1": 33, "v1.34.1+rke2r1": 34, "v1.33.5-eks-113cf36": 33, "v1.33.5-gke.1080000": 33, "v1.20.1-34+e7db93d188d0d6": 20, "v1.36.3": 36,
		"kwok-v0.8.0": -1, "": -1, "v2.1.0": -1, "v0.8.0": -1,
	} {
		got, err := Minor(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
}

// The policy of Kubernetes has three minor versions, two before 1.25, and k0s supports one.
func TestMaxOlder(t *testing.T) {
	t.Parallel()
	k0s, err := Named("k0s")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		skew         Skew
		kubelet, max int
	}{{Skew{}, 33, 3}, {Skew{}, 25, 3}, {Skew{}, 24, 2}, {k0s.Skew, 33, 1}} {
		if got := c.skew.MaxOlder(c.kubelet); got != c.max {
			t.Errorf("kubelet 1.%d: %d, want %d", c.kubelet, got, c.max)
		}
	}
}
