package collective

import (
	"maps"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of a healthy run is demanded, or this list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	checktest.EveryField(t, "spoilt", func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, harmless(nil), checktest.Sample(4))
}

// harmless are the spoilt fields of a run that still pass, and more of them.
func harmless(more checktest.Harmless) checktest.Harmless {
	out := checktest.Harmless{
		"a channel within a node, or one of many: channels between nodes are counted by node":     {`.* .nccl.channels: (the first twice|without the last)`, `.* .nccl.channels.(from|to|gdr|transport): .*`},
		"it is only shown, in a message or a chart":                                               {`.* .nccl.channels.(count|device|host): .*`, `.* .nccl.hosts.hcas.(index|port): .*`, `.* .nccl.ranks.(busID|device|nranks|rings): .*`, `.* .outcome.(namespace|pods.phase|pods.pod): .*`, `.* .runs.(avgBusbwGBps|ncclVersion|version|stepFactor): .*`, `.* .runs.devices.(group|name|pid): .*`, `.* .runs.rows.(count|redop|root|type): .*`},
		"said twice is not more, and more than enough is enough":                                  {`.* .nccl.(hosts|hosts.hcas|ranks): the first twice`, `.* .outcome.pods: the first twice`, `.* .nccl.lines: .*`, `.* .nccl.ranks.inits: (x1000|1 more)`},
		"which network NCCL names says less than its channels":                                    {`.* .nccl.hosts.networks: .*`},
		"rank and index 0 are omitted in JSON":                                                    {`.* .nccl.ranks.rank: left out`, `.* .outcome.pods.index: left out`, `.* .runs.devices.rank: left out`},
		"older versions of NCCL and nccl-tests do not print it":                                   {`.* .nccl.ranks.ringGDR: left out`, `.* .runs.test: (left out|"")`, `.* .runs.validation: .*`},
		"the launcher succeeded and its tables are whole, so that how it ended says nothing more": {`.* .outcome.ended: .*`, `.* .outcome.pods.exitCode: .*`},
		"devices are distinguished, with any names":                                               {`.* .runs.devices.(busID|device): .*`},
		"ranks are counted; one of an unknown number is known by its channels":                    {`.* .runs.devices.rank: (-1|x1000|1 more)`},
		"a negative count of wrong elements is invalid, and no parser returns it":                 {`.* .runs.(outOfBounds|rows.*.wrong): -1`},
		"within the tolerance of one measurement":                                                 {`.* .runs.rows.*.(timeUs|algbwGBps|busbwGBps): 1 (more|less)`},
	}
	maps.Copy(out, more)
	return out
}
