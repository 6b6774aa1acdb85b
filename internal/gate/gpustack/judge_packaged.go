package gpustack

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// judgePackaged requires that the components that k3s has installed are ready. Each of them can be disabled:
// an absent one is not a defect. The load balancers and charts of users are theirs, such as a second Service on port 80,
// whose pods stay Pending for good.
func (g *Gate) judgePackaged(b *check.Builder, obs []check.Observation) (remark string) {
	of, err := g.packaged()
	if err != nil {
		b.Unobserved("", "the packaged components", "report it as a bug", "%v", err)
	}
	if of.Source == "" {
		return ""
	}
	found, o, ok := check.Require[[]component](b, obs, kindPackaged, "", "the packaged components of k3s", readRemedy(obs, kindPackaged))
	if !ok {
		return ""
	}
	var ready, without []string
	for _, c := range found {
		switch {
		case c.Of != "":
			c.note(b, o)
		case c.Desired == 0 && c.Current:
			without = append(without, c.Name)
		case c.judge(b, o):
			ready = append(ready, c.Name)
		}
	}
	if len(ready) == 0 {
		remark = "; no packaged component of k3s is installed with pods"
	} else {
		remark = "; packaged components ready: " + joined(ready)
	}
	if len(without) > 0 {
		remark += "; without pods: " + joined(without)
	}
	return remark
}

func (c component) complete() bool { return c.Current && min(c.Ready, c.Updated) >= c.Desired }

func (c component) suspect() string { return c.Kind + " " + metav1.NamespaceSystem + "/" + c.Name }

func (c component) describe() string {
	return fmt.Sprintf("kubectl -n %s describe %s %s, and the logs of its pods", metav1.NamespaceSystem, strings.ToLower(c.Kind), c.Name)
}

// judge reports whether a component of k3s is ready.
func (c component) judge(b *check.Builder, o check.Observation) bool {
	if c.complete() {
		return true
	}
	if c.Running {
		b.Unobserved(o.ID, c.suspect(), c.describe()+"; run the gate again when the Job has ended", "has not ended: %d of %d pods have succeeded", c.Ready, c.Desired)
		return false
	}
	why := ""
	if c.Why != "" {
		why = ": " + c.Why
	}
	b.Fail(o.ID, c.suspect(), c.describe()+"; k3s restores what its manifests say (/var/lib/rancher/k3s/server/manifests), --disable removes a component",
		"%d of %d pods are ready, %d up to date, status current: %v%s", c.Ready, c.Desired, c.Updated, c.Current, why)
	return false
}

// note states a component of a user that is not ready.
func (c component) note(b *check.Builder, o check.Observation) {
	if !c.complete() {
		b.Note(o.ID, c.suspect(), c.describe(), "%d of %d pods are ready: it is of %s, not of k3s, and is not judged", c.Ready, c.Desired, c.Of)
	}
}

func joined(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}
