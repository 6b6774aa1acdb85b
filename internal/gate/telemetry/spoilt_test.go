package telemetry

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of healthy telemetry is demanded, or this list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	g := gate(t)
	checktest.EveryField(t, "spoilt", func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, healthy(g).observations(t), checktest.Harmless{
		"the last observation of a kind decides":                                {`.*: twice`},
		"it names the GPU, the node and the exporter; UUID and host are judged": {`gpu-series.* .series.(gpu|instance|node): .*`},
		"little use without load":                                               {`gpu-series@idle .series.utilPercent: (left out|1)`},
		"more use under load":                                                   {`gpu-series@under-load .series.utilPercent: 1 (more|less)`},
		"more GPUs are free":                                                    {`gpu-usage.* .nodes.*.(allocatable|requested): .*`},
		"the effect of the load is in the series":                               {`gpu-load.* .since: .*`},
		"how many there are counts, not their names":                            {`alertmanagers.* .active: .*`},
		"said twice is not more":                                                {`receivers.* .(receivers|receivers.integrations): the first twice`, `alert@.* .(alerts|alerts.receivers): the first twice`, `prometheus-answers.* .answers: the first twice`},
		"how old samples are is judged of the series: an answer is compared with those before it": {`prometheus-answers.* .answers.now: .*`, `prometheus-answers.* .answers.hosts.gpu-0[12].oldest: 10 h (earlier|later)`},
		"the gate names it itself; where another is right, series name no pod of the load":        {`gpu-load.* .namespace: another text`},
		"more failures before, or fewer afterwards, do not concern the alert":                     {`notifications@before .failed.webhook: (x1000|1 more)`, `notifications@after .failed.webhook: (left out|0|-1|1|1 less|x0.5)`},
		"fewer notifications before, or more afterwards, are more for the alert":                  {`notifications@before .total.webhook: .*`, `notifications@before .delivered.webhook: (0|1|1 less|x0.5)`, `notifications@after .delivered.webhook: (1 more|x1000)`, `notifications@after .total.webhook: (x1000|1 more)`},
		"Alertmanager makes the counters of some integrations with their first count":             {`notifications@before .total: left out`, `notifications@after .failed: left out`},
		"labels explain an alert that is routed elsewhere":                                        {`alert@.* .(labels|alerts.labels)(.severity)?: .*`},
		"sooner than it must": {`alert@.* .(waited|notYet)Seconds: .*`, `alert-end@.* .waitedSeconds: .*`},
	})
}
