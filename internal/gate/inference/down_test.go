package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// Why a server is not healthy: it was never started, it crashes, or it is not ready in time.
func TestAServerThatIsNotHealthy(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	const suspect = "pod inference-0-abcde on gpu-02"
	down := checktest.Set(KindServer, ".healthy", false)
	crashed := checktest.Set(KindServer, ".crashed", true)
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, served(t, g), []checktest.Rule{
		checktest.When("not ready in time", down).Fails(suspect, "not healthy after 40 s"),
		checktest.When("never started", down, crashed).Unobserved(suspect, "could not be started"),
		checktest.When("restarted without a log", down, crashed, checktest.Set(KindServer, ".restarts", 1)).Fails(suspect, "crashes (CrashLoop: 1 restarts)"),
		checktest.When("ended with a log", down, crashed, checktest.Set(KindServer, ".log.lines", 5)).Fails(suspect, "vLLM crashes"),
		checktest.When("GPU memory is taken", down, checktest.Set(KindServer, ".log.freeMemory", "15 of 79 GiB")).Fails(suspect, "15 of 79 GiB"),
		checktest.When("one restart under load is one too many", checktest.Set(KindEnd, ".restarts", 1)).Fails(suspect, "restarted 1 times"),
	})
}
