package node_test

import (
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// Every field of healthy hosts is demanded, or this list states why not. Of three hosts two
// outvote the one that is spoilt.
func TestEveryField(t *testing.T) {
	t.Parallel()
	p := testProfile(t)
	p.Node.GPUs.Value, p.GPU.NVLinks.Value = fewGPUs, fewLinks
	g := node.New(testSite(3), p, node.Deps{})
	hosts := healthy(t, 3)
	for _, h := range hosts {
		h.shrink()
	}
	checktest.EveryField(t, "spoilt", func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, observations(t, hosts), checktest.Harmless{
		"the last observation of a kind decides":                     {`.*: twice`},
		"no error is omitted":                                        {`nvidia-smi(-after)?@gpu-0. .trouble: left out`},
		"versions are compared by the latest document":               {`nvidia-smi@.* .log.(driver|gpus.vbios): .*`},
		"cards are distinguished by UUID; the rest names them":       {`nvidia-smi.* .log.gpus.(busID|index|serial): .*`, `nvidia-smi-nvlink(-errors|-errors-after)?@.* .gpus.index: .*`, `dcgmi-diag.* .diag.serials.*: .*`},
		"links are counted and each is judged; the number names one": {`nvidia-smi-nvlink@.* .gpus.links.number: (left out|0|1|1 less|x0.5)`},
		"the first link has number 0, which a field left out is":     {`nvidia-smi-nvlink-errors(-after)?@.* .gpus.links.number: left out`},
		"reasons that are not a fault":                               {`nvidia-smi.* .log.gpus.(clockCountersUS|clockReasons).(sw_power_cap|gpu_idle): .*`},
		"more than the profile demands":                              {`nvidia-smi.* .log.gpus.(maxSMClockMHz|memoryTotalMiB|pcieMaxGen|pcieWidthLanes|powerLimitW): (x1000|1 more)`, `nvidia-smi-nvlink.* .gpus.links.gbps: (x1000|1 more)`, `ibstat.* .hcas.ports.rateGbps: (x1000|1 more)`},
		"a default below the limit":                                  {`nvidia-smi.* .log.gpus.defaultPowerLimitW: .*`},
		"fewer remapped rows than the profile allows":                {`nvidia-smi.* .log.gpus.remappedRows.(correctableRows|uncorrectableRows): (0|1|1 more|x0.5)`},
		"as many corrected errors as the profile allows":             {`nvidia-smi(-after)?@.* .log.gpus.(aggregate|volatile)Errors.(dram|sram)Correctable: (0|1|1 less|1 more|x0.5)`},
		"a link that runs no slower than the adapter can, and one below that which carries the port's rate as on every node, is noted": {`host@.* .host.adapters.mlx5_[01].(maxSpeedGTs|maxWidth): (1|1 less|1 more|x0.5|x1000)`},
		"a link faster or wider than the adapter says it can be":                                                                       {`host@.* .host.adapters.mlx5_[01].(speedGTs|width): (1 more|x1000)`},
		"governors are judged by name: hosts may have another number of CPUs":                                                          {`host@.* .host.governors.performance: (1|1 less|1 more|x0.5|x1000)`},
		"a GPU's place is its row of the matrix, whatever the row's number":                                                            {`host@.* .host.gpus.index: .*`},
		"more memory than the others, or less by no more than the profile's spread":                                                    {`host@.* .host.memoryKiB: (1 less|1 more|x1000)`},
		"busier than busy, and a clock that the profile's demand is below":                                                             {`nvidia-smi-load@.* .samples.util: (1 less|1 more|x1000)`, `nvidia-smi-load@.* .samples.smClockMHz: (1 less|1 more|x1000)`},
		"the power draw excuses a low clock: this clock is not low":                                                                    {`nvidia-smi-load@.* .samples.(powerW|powerLimitW): .*`},
		"a process is seen: the unit adds only whether the manager stays up, and whose program runs":                                   {`nvidia-fabricmanager@.* .unit.*`},
		"one process or more; none seen, where systemd reports one":                                                                    {`nvidia-fabricmanager@.* .processes: (1 more|x1000|left out|x0.5)`},
		"without the program there is no version to compare, which is noted":                                                           {`nvidia-fabricmanager@.* .version: (left out|"")`},
		"cool": {`nvidia-smi.* .log.gpus.temperatureC: .*`},
		"the gate does not demand it: gate 2 does":                  {`ibstat.* .hcas.(firmware|nodeGUID|type|ports.baseLID|ports.linkLayer|ports.number|ports.portGUID|ports.smLID): .*`},
		"said twice is not more":                                    {`nvidia-smi-nvlink-errors(-after)?@.* .gpus(.links)?: the first twice`, `nvidia-smi-load@.* .samples: the first twice`, `ibstat.* .hcas.ports: the first twice`, `dcgmi-diag.* .diag.tests.results: the first twice`},
		"it is only shown":                                          {`dcgmi-diag.* .(meaning|diag.tests.category): .*`},
		"entities are counted, by whatever number":                  {`dcgmi-diag.* .diag.tests.results.id: .*`},
		"no event is omitted in JSON; lines are counted for people": {`dmesg.* .(events|lines): .*`},
	}, checktest.Sample(4))
}

// So many GPUs a node and NVLinks a GPU are enough: the first and the last of a list are
// spoilt, and all are judged again each time.
const fewGPUs, fewLinks = 2, 2

// shrink leaves a host that many, and the one reading that decides: every field of it counts.
func (h *hostSeen) shrink() {
	for _, log := range []*nvidia.SMILog{h.Before.Log, h.After.Log} {
		log.GPUs, log.Attached = log.GPUs[:fewGPUs], fewGPUs
	}
	h.Links.GPUs, h.Facts.Host.GPUs = h.Links.GPUs[:fewGPUs], h.Facts.Host.GPUs[:fewGPUs]
	h.CountedBefore.GPUs, h.CountedAfter.GPUs = h.CountedBefore.GPUs[:fewGPUs], h.CountedAfter.GPUs[:fewGPUs]
	h.Load.Samples = [][]nvidia.Clock{h.Load.Samples[1][:fewGPUs]}
	for i := range fewGPUs {
		h.Links.GPUs[i].Links = h.Links.GPUs[i].Links[:fewLinks]
		h.CountedBefore.GPUs[i].Links, h.CountedAfter.GPUs[i].Links = h.CountedBefore.GPUs[i].Links[:fewLinks], h.CountedAfter.GPUs[i].Links[:fewLinks]
	}
	for i := fewGPUs; i < gpusPerNode; i++ {
		delete(h.Diag.Diag.Serials, i)
		for _, place := range h.Facts.Host.GPUs {
			delete(place.Paths, fmt.Sprintf("GPU%d", i))
		}
	}
	for i := range h.Diag.Diag.Tests {
		h.Diag.Diag.Tests[i].Results = h.Diag.Diag.Tests[i].Results[:fewGPUs]
	}
}
