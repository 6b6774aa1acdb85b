package gpustack

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of a healthy stack is demanded, or this list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	g := gate(t)
	checktest.EveryField(t, "spoilt", func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, healthy(g).observations(t), checktest.Harmless{
		"the Error condition, which explains a failure":                                  {`clusterpolicy.* .conditions: (the first twice|without the last)`, `clusterpolicy.* .conditions.(message|reason|status|type): .*`},
		"operators before observedGeneration do not say which generation they have seen": {`clusterpolicy.* .generation: .*`},
		"the marks of a distribution that differs nowhere":                               {`distribution.* .nodes.runtime: .*`},
		"the end of a version is not compared":                                           {`distribution.* .(server|nodes.kubelet): another text`},
		"its version counts for two variables":                                           {`operator.* .version: .*`},
		"a toolkit for containerd where it is by default":                                {`clusterpolicy.* .toolkit(.enabled)?: .*`},
		"said twice is not more":                                                         {`(nodes|daemonsets|operator|device-plugins|distribution).* (.nodes)?: the first twice`, `device-plugins.* .images: the first twice`, `daemonsets.* .pods(.images)?: the first twice`, `dns.* .(addresses|pods|pods.addresses): the first twice`, `gang-scheduler.* .detected: the first twice`},
		"one ready pod keeps the status up to date":                                      {`operator.* .(desired|ready): (1 more|x1000)`, `operator.* .desired: .*`},
		"it names the observed object, for people":                                       {`daemonsets.* .pods.pod: .*`, `operator.* .name: .*`, `device-plugins.* .pod: .*`, `daemonsets.* .pods.images.image: .*`, `gang-scheduler.* .(detected.api|detected.name): .*`},
		"a known image, or a DaemonSet of the operands, is enough":                       {`device-plugins.* .(daemonSet|images|namespace): .*`},
		"as many pods fit":                                                               {`gpu-usage.* .nodes.gpu-0..allocatable: 1 more`},
		"the free GPUs afterwards explain a gang that was not placed":                    {`gang-proof.* .fitsAfter: .*`},
		"a pod that was bound exists":                                                    {`gang-proof@gang-fits .placement.exist: .*`},
		"a Job replaces pods":                                                            {`gang-proof@gang-too-large .placement.exist: (1 more|x1000)`},
		"zero is omitted in JSON":                                                        {`gang-proof@gang-too-large .placement.bound: left out`, `gpu-usage.* .nodes.gpu-0..requested: left out`},
		"one refusal is a decision":                                                      {`gang-proof@gang-too-large .placement.(refused|groupRefused): .*`},
		"a gang that was placed was not refused in the end":                              {`gang-proof@gang-fits .placement.(refused|groupRefused): .*`},
	})
}
