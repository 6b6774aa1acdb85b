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
	b := &check.Builder{}
	if idle, ok := g.judgeIdle(b, obs); ok {
		g.judgeAnswers(b, obs)
		g.judgeLoaded(b, obs, idle)
	}
	g.judgeAlert(b, obs)
	return b.Judgement(fmt.Sprintf("%d GPU series are fresh and follow the load; %s", g.Claims(), g.alertReason()))
}
