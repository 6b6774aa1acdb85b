package gpustack

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// TestImageRules covers the comparison of images between nodes.
func TestImageRules(t *testing.T) {
	t.Parallel()
	g := gate(t)
	const driver = "nvidia-driver-daemonset"
	image := func(pod, id string) checktest.Change {
		return checktest.Set(kindOperands, `[0].pods[`+pod+`].images[0].id`, id)
	}
	repo, other, short := "nvcr.io/nvidia/driver@", digest('b'), "md5:"+strings.Repeat("e", 32)
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, healthy(g).observations(t), []checktest.Rule{
		checktest.When("a pod that reports no images hides no other image of another node",
			image("1", repo+other), checktest.Set(kindOperands, `[0].pods[3].images`, []any{})).Fails("gpu-02/"+driver, "as 1 of 3 nodes do"),
		checktest.When("two pods of one node are one vote",
			image("0", repo+other), image("1", repo+other), checktest.Set(kindOperands, `[0].pods[0]`, checktest.Twice)).Fails("gpu-01/"+driver, "as 2 of 4 nodes do"),
		checktest.When("two pods of one node are one vote in any order",
			image("0", repo+other), image("1", repo+other), checktest.Set(kindOperands, `[0].pods[0]`, checktest.Twice),
			checktest.Set(kindOperands, `[0].pods[1].node`, "gpu-03"), checktest.Set(kindOperands, `[0].pods[3].node`, "gpu-01"),
			image("1", repo+digest('a')), image("3", repo+other)).Fails("gpu-01/"+driver, "as 2 of 4 nodes do"),
		checktest.When("one digest is one image, with its repository or without", image("1", digest('a'))).Passes(),
		checktest.When("one image of the registry is not compared with configurations",
			image("*", digest('a')), image("0", repo+other)).Unobserved("DaemonSet gpu-operator/"+driver, "on 1 of 4 nodes"),
		checktest.When("a digest of 32 digits is a digest", image("*", repo+short)).Passes(),
		checktest.When("31 digits are not a digest", image("*", repo+short[:len(short)-1])).Unobserved("gpu-01/"+driver, "has no digest"),
		checktest.When("a digest has an algorithm", image("*", ":"+strings.Repeat("e", 64))).Unobserved("gpu-01/"+driver, "has no digest"),
		checktest.When("the port of a registry is not an algorithm", image("*", "registry:5000/"+strings.Repeat("driver/", 8)+"v1")).Unobserved("gpu-01/"+driver, "has no digest"),
	})
}
