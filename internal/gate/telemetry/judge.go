package telemetry

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	if len(g.nodes) == 0 || g.gpus == 0 {
		return check.NotObserved("the site's inventory has no GPUs")
	}
	if g.gang.MIG != nil {
		f := partitioned()
		return check.NotObserved(f.Suspect+" "+f.Message, f)
	}
	b := &check.Builder{}
	if idle, ok := g.judgeIdle(b, obs); ok {
		g.judgeAnswers(b, obs)
		g.judgeLoaded(b, obs, idle)
	}
	g.judgeAlert(b, obs)
	return b.Judgement(fmt.Sprintf("%d GPU series are fresh and follow the load; %s", g.Claims(), g.alertReason()))
}

// partitioned is the finding of a site whose GPUs are divided into MIG devices.
func partitioned() check.Finding {
	return check.Finding{
		Suspect: "gpustack.mig", Message: "declares MIG devices: their series are not those of whole GPUs, and the load needs whole GPUs",
		Remedy: "accept the GPUs before they are partitioned: switch MIG off (nvidia-smi -mig 0), leave gpustack.mig out of the site and run this gate; then partition them and run gate gpustack",
	}
}
