package singlenode

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field that gate fabric of one machine reads is demanded, or this list states why not.
func TestEveryFieldOfLinks(t *testing.T) {
	t.Parallel()
	l, obs := links(t)
	checktest.EveryField(t, "links", judgeOf(l), obs, checktest.Harmless{
		"the last observation of a kind decides":              {`.*: twice`},
		"said twice is not more":                              {`nvidia-smi-(nvlink|topo)@.* .gpus: the first twice`},
		"faster than the profile demands":                     {`nvidia-smi-nvlink@.* .gpus.links.gbps: (x1000|1 more)`},
		"links are counted and each is judged, by any number": {`nvidia-smi-nvlink@.* .gpus(.links.number|.index): .*`},
		"gate 3 judges the other properties of GPUs":          {`nvidia-smi@.* .log.(cuda|driver|dtd|gpus.[a-tv-z].*): .*`, `nvidia-smi@.* .trouble: .*`},
		"CPUs are not a part of the path":                     {`nvidia-smi-topo@.* .gpus.affinity: .*`},
		"row 0 of the matrix is omitted in JSON":              {`nvidia-smi-topo@.* .gpus.index: left out`},
	}, checktest.Sample(4))
}

// Every field that gate collective of one machine reads is demanded, or this list states why not.
func TestEveryFieldOfLocal(t *testing.T) {
	t.Parallel()
	c, obs := local(t)
	checktest.EveryField(t, "collective", judgeOf(c), obs, checktest.Harmless{
		"no other program is an empty list, or none":                              {`nvidia-smi-compute-apps@.* .running: .*`},
		"NCCL connects channels when it uses them":                                {`.* .nccl.channels: .*`, `.* .nccl.channels.(from|to|count|device|host|gdr): .*`},
		"any way to reach a peer":                                                 {`.* .nccl.channels.transport: .*`},
		"one machine needs no network":                                            {`.* .nccl.hosts.*: .*`, `.* .nccl.ranks.ringGDR: .*`},
		"no other node is reached by NVLink":                                      {`.* .nccl.ranks.mnnvl: .*`},
		"it is only shown":                                                        {`.* .job: .*`, `.* .nccl.(versions|ranks.(busID|device|nranks|rings)): .*`, `.* .runs.(avgBusbwGBps|ncclVersion|version|stepFactor|devices.(group|name|pid)|rows.(count|redop|root|type)): .*`},
		"said twice is not more, and more than enough is enough":                  {`.* .nccl.ranks: the first twice`, `.* .nccl.(lines|ranks.inits): .*`},
		"rank 0 is omitted in JSON":                                               {`.* .nccl.ranks.rank: left out`, `.* .runs.devices.rank: left out`},
		"older versions of nccl-tests do not print it":                            {`.* .runs.(test: (left out|"")|validation: .*)`},
		"the tables are whole, so that how it ended says nothing more":            {`.* .outcome(.ended|.pods)?: .*`},
		"devices are distinguished, with any names":                               {`.* .runs.devices.(busID|device): .*`},
		"ranks are counted":                                                       {`.* .runs.devices.rank: .*`},
		"a negative count of wrong elements is invalid, and no parser returns it": {`.* .runs.(outOfBounds|rows.*.wrong): -1`},
		"within the tolerance of one measurement":                                 {`.* .runs.rows.*.(timeUs|algbwGBps|busbwGBps): 1 (more|less)`},
	}, checktest.Sample(4))
}
