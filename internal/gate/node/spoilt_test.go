package node_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of healthy hosts is demanded, or it is said here why not. Of three hosts two
// outvote the one that is spoilt.
func TestEveryField(t *testing.T) {
	t.Parallel()
	g := node.New(testSite(3), testProfile(t), node.Deps{})
	checktest.EveryField(t, "spoilt", func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, observations(t, healthy(t, 3)), checktest.Harmless{
		"the last observation of a kind decides": {`.*: twice`},
		"without a document there is what nvidia-smi wrote to its error stream; one document of the two is judged": {`nvidia-smi(-after)?@gpu-0. .log: left out`, `nvidia-smi(-after)?@gpu-0. .trouble: left out`},
		"versions are compared by the latest document":                                                             {`nvidia-smi@.* .log.(driver|gpus.vbios): .*`},
		"cards are told apart by UUID; the rest names them":                                                        {`nvidia-smi.* .log.gpus.(busID|index|serial): .*`, `nvidia-smi-nvlink.* .gpus.(index|links.number): .*`, `dcgmi-diag.* .diag.serials.*: .*`},
		"reasons that are no fault":                                                                                {`nvidia-smi.* .log.gpus.(clockCountersUS|clockReasons).(sw_power_cap|gpu_idle): .*`},
		"more than the profile demands":                                                                            {`nvidia-smi.* .log.gpus.(maxSMClockMHz|memoryTotalMiB|pcieMaxGen|pcieWidthLanes|powerLimitW): (x1000|1 more)`, `nvidia-smi-nvlink.* .gpus.links.gbps: (x1000|1 more)`, `ibstat.* .hcas.ports.rateGbps: (x1000|1 more)`},
		"a default below the limit":                                                                                {`nvidia-smi.* .log.gpus.defaultPowerLimitW: .*`},
		"fewer remapped rows than the profile allows":                                                              {`nvidia-smi.* .log.gpus.remappedRows.(correctableRows|uncorrectableRows): .*`},
		"the profile has no limit for it: it is shown":                                                             {`nvidia-smi.* .log.gpus.temperatureC: .*`},
		"the gate does not demand it: gate 2 does":                                                                 {`ibstat.* .hcas.(firmware|nodeGUID|type|ports.baseLID|ports.linkLayer|ports.number|ports.portGUID|ports.smLID): .*`},
		"said twice is not more":                                                                                   {`ibstat.* .hcas.ports: the first twice`, `dcgmi-diag.* .diag.tests.results: the first twice`},
		"it is only shown":                                                                                         {`dcgmi-diag.* .(meaning|diag.tests.category): .*`},
		"entities are counted, by whatever number":                                                                 {`dcgmi-diag.* .diag.tests.results.id: .*`},
		"no event is what is left out in JSON; lines are counted for people":                                       {`dmesg.* .(events|lines): .*`},
	})
}
