package gpustack

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// judgePackaged requires that the components that k3s has installed are ready. Each of them can be disabled:
// an absent one is not a defect.
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
	var names []string
	for _, c := range found {
		names = append(names, c.Name)
		if c.Ready >= c.Desired {
			continue
		}
		why := ""
		if c.Why != "" {
			why = ": " + c.Why
		}
		resource := strings.ToLower(c.Kind)
		b.Fail(o.ID, c.Kind+" "+metav1.NamespaceSystem+"/"+c.Name,
			fmt.Sprintf("kubectl -n %s describe %s %s, and the logs of its pods; k3s restores what its manifests say (/var/lib/rancher/k3s/server/manifests), --disable removes a component", metav1.NamespaceSystem, resource, c.Name),
			"%d of %d pods are ready%s", c.Ready, c.Desired, why)
	}
	if len(names) == 0 {
		return "; k3s has installed no packaged component"
	}
	return "; packaged components ready: " + strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}
