package conformance

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

func TestParts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		parts  int
		add    func(*Parts)
		want   check.Verdict
		reason string
	}{
		"every part":         {2, func(*Parts) {}, check.Passed, "all is well"},
		"one part missing":   {3, func(*Parts) {}, check.Unobserved, "2 of 3 parts were shown"},
		"one part too many":  {1, func(*Parts) {}, check.Unobserved, "2 of 1 parts were shown"},
		"no parts at all":    {0, func(*Parts) {}, check.Unobserved, "2 of 0 parts were shown"},
		"failed":             {2, func(p *Parts) { p.Fail("1", "gpu-01", "cool it", "is hot") }, check.Failed, "gpu-01: is hot"},
		"failed, also short": {3, func(p *Parts) { p.Fail("1", "gpu-01", "cool it", "is hot") }, check.Failed, "gpu-01: is hot"},
		"unobserved":         {2, func(p *Parts) { p.Unobserved("1", "gpu-01", "retry", "timed out") }, check.Unobserved, "gpu-01: timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p Parts
			p.Shown()
			p.Shown(check.Figure{Name: "GPUs", Value: 8})
			tt.add(&p)
			j := p.Judgement(tt.parts, "all is well")
			if j.Verdict != tt.want || j.Reason != tt.reason || len(j.Figures) != 1 {
				t.Errorf("%+v", j)
			}
		})
	}
	var none Parts
	if j := none.Judgement(0, "all is well"); j.Verdict != check.Unobserved {
		t.Errorf("%+v", j)
	}
}

func TestRequire(t *testing.T) {
	t.Parallel()
	o := func(target, err string) check.Observation {
		return check.Observation{ID: "0001", Kind: "device-class", Target: target, Figures: []byte("3"), Err: err}
	}
	refused := func(target, err string) check.Observation {
		out := o(target, err)
		out.APIReason = metav1.StatusReasonForbidden
		return out
	}
	for name, tt := range map[string]struct {
		obs    []check.Observation
		target string
		reason string
		remedy string
	}{
		"one":                                 {[]check.Observation{o("a", ""), o("b", "")}, "a", "", ""},
		"none":                                {[]check.Observation{o("b", "")}, "a", "device class a: was not observed", "reachable"},
		"two":                                 {[]check.Observation{o("a", ""), o("b", "")}, "", "device class: was observed 2 times", "reachable"},
		"forbidden":                           {[]check.Observation{refused("a", "nodes is forbidden")}, "a", "nodes is forbidden", "validate rbac"},
		"another failure that says forbidden": {[]check.Observation{o("a", "proxy: forbidden")}, "a", "proxy: forbidden", "reachable"},
		"another failure":                     {[]check.Observation{o("a", "refused")}, "a", "refused", "reachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b check.Builder
			n, id, ok := Require[int](&b, tt.obs, "device-class", tt.target)
			if ok != (tt.reason == "") || ok && (n != 3 || id != "0001") {
				t.Fatalf("%d, %s, %t", n, id, ok)
			}
			j := b.Judgement("fine")
			if ok {
				return
			}
			if j.Verdict != check.Unobserved || !strings.Contains(j.Reason, tt.reason) || !strings.Contains(j.Findings[0].Remedy, tt.remedy) {
				t.Errorf("%+v", j)
			}
		})
	}
}
