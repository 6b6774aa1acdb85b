package training

import (
	"maps"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of a healthy job is demanded, with either framework and with Megatron that prints on its last rank only, or this
// list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	common := checktest.Harmless{
		"the last observation of a kind decides":                                              {`training-job.*: twice`},
		"it describes the job that was asked for":                                             {`training-job.* .(model|nodes): .*`, `training-job.* .outcome.namespace: .*`},
		"the job succeeded and each rank printed its steps: how pods ended says nothing more": {`training-job.* .outcome.(ended|pods|pods.*): .*`},
		"it names the observed object, for people":                                            {`rank-log.* .index: .*`},
		"one rank that reports it is enough":                                                  {`rank-log.* .ranks.completed: .*`},
		"rank 0 and device 0 are omitted in JSON":                                             {`rank-log.* .(ranks.rank|gpus.rank|gpus.device): left out`},
		"the output of nvidia-smi explains a slow GPU, and the rate shows it":                 {`rank-log.* .gpus.(powerDefaultWatts|powerLimitWatts|smClockMHz): .*`},
		"PyTorch does not know it in older releases; the rank tells GPUs apart":               {`rank-log.* .gpus.uuid: .*`},
		"a rate is by the second, of products of any size":                                    {`rank-log.* .gpus.(seconds|size): (1|1 less|1 more|x1000|x0.5)`},
		"free space and source explain an error":                                              {`rank-log.* .checkpoints.(freeBytes|source): .*`},
		"pod 0 is omitted in JSON":                                                            {`rank-log.* .checkpoints.index: left out`},
		"the rate of the storage is a figure without a limit":                                 {`rank-log.* .checkpoints.(readSeconds|writeSeconds): (1|1 less|1 more|x1000|x0.5)`},
		"a rate near the median is as healthy":                                                {`rank-log.* .gpus.tflops: 1 (less|more)`},
	}
	allRanks := checktest.Harmless{
		"ranks print every step with either framework":                           {`training-job.* .framework: .*`},
		"ranks say themselves when they started, else the pods do, if each does": {`rank-log.* .podStarted: .*`, `rank-log.* .ranks.started: left out`},
		"one loss, time or rate of many is outweighed by the median":             {`rank-log.* .ranks.steps.(loss|stepMs|tflops|tokensPerSecond): .*`},
	}
	for name, tt := range map[string]struct {
		framework string
		trainer   fakeTrainer
		harmless  []checktest.Harmless
	}{
		"torchtitan": {frameworkTorchtitan, fakeTrainer{}, []checktest.Harmless{common, allRanks, {
			"MFU is computed from our own peak and the TFLOPS": {`rank-log.* .ranks.(parameters|printedPeakTFLOPS|steps.printedMFUPercent): .*`},
		}}},
		"megatron": {frameworkMegatron, fakeTrainer{}, []checktest.Harmless{common, allRanks, {
			"no iteration is omitted in JSON": {`rank-log.* .ranks.steps.(nan|skipped): (left out|-1)`},
		}}},
		"megatron-last-rank": {frameworkMegatron, fakeTrainer{lastOnly: true}, []checktest.Harmless{common, {
			"one straggler report of many names no slow rank":                        {`rank-log.* .stragglers.(minTFLOPS|maxTFLOPS|minRank|maxRank): .*`},
			"a lag within the limit is so with any pipeline":                         {`rank-log.* .pipelineStages: .*`},
			"the other ranks print no steps":                                         {`rank-log.* .ranks.steps: left out`},
			"pods say when they started, as not every rank does":                     {`rank-log.* .ranks.started: .*`},
			"one loss or rate of many is outweighed by the median":                   {`rank-log.* .ranks.steps.(loss|tflops): .*`},
			"the first step is warm-up, and a millisecond more or less is as steady": {`rank-log.* .ranks.steps.stepMs: .*`},
			"no iteration is omitted in JSON":                                        {`rank-log.* .ranks.steps.(nan|skipped): (left out|-1)`},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harmless := checktest.Harmless{}
			for _, h := range tt.harmless {
				maps.Copy(harmless, h)
			}
			g := testGate(t, testSite(tt.framework))
			_, obs := observeAndJudge(t, g, tt.trainer)
			checktest.EveryField(t, name, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, harmless, checktest.Sample(8))
		})
	}
}
