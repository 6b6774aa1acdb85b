package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// The verdict depends on every field of two kernels, except for those that are listed here with
// the reason.
func TestEveryFieldOfSandbox(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{observationOf(t, kindClasses, "cluster", []runtimeClass{classOf("gvisor")}), observationOf(t, kindSandboxed, "gvisor", isolated("gvisor"))}
	checktest.EveryField(t, "spoilt-sandbox", (&Sandbox{}).Judge, obs, checktest.Harmless{
		"a duplicate adds nothing":                     {`runtime-classes.* : the first twice`},
		"it names the subject for the reader":          {`runtime-classes.* .handler: .*`, `sandboxed-pod.* .class.*: .*`},
		"two versions or two boots are two kernels":    {`sandboxed-pod.* .(inside|outside).(version|boot): .*`},
		"of a pod, its node, phase and claim count":    {`sandboxed-pod.* .(plain|sandbox).(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `sandboxed-pod.* .(plain|sandbox).containers: (the first twice|without the last)`},
		"the plain pod reported its kernel, so it ran": {`sandboxed-pod.* .plain.(containers.*|phase): .*`},
	})
}
