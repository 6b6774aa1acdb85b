package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of two kernels is demanded, or it is said here why not.
func TestEveryFieldOfSandbox(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{observationOf(t, kindClasses, "cluster", []runtimeClass{classOf("gvisor")}), observationOf(t, kindSandboxed, "gvisor", isolated("gvisor"))}
	checktest.EveryField(t, "spoilt-sandbox", (&Sandbox{}).Judge, obs, checktest.Harmless{
		"said twice is not more":                                   {`runtime-classes.* : the first twice`},
		"it names what is looked at, for people":                   {`runtime-classes.* .handler: .*`, `sandboxed-pod.* .class.*: .*`},
		"two versions or two boots are two kernels":                {`sandboxed-pod.* .(inside|outside).(version|boot): .*`},
		"of a pod, where it is, that it runs and its claim count":  {`sandboxed-pod.* .(plain|sandbox).(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `sandboxed-pod.* .(plain|sandbox).containers: (the first twice|without the last)`},
		"the pod beside it has said what its kernel is, so it ran": {`sandboxed-pod.* .plain.(containers.*|phase): .*`},
	})
}
