package training

import (
	"maps"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of a healthy job is demanded, with either framework, or this list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	both := checktest.Harmless{
		"the last observation of a kind decides":                                              {`training-job.*: twice`},
		"ranks print every step with either framework":                                        {`training-job.* .framework: .*`},
		"it describes the job that was asked for":                                             {`training-job.* .(model|nodes): .*`, `training-job.* .outcome.namespace: .*`},
		"the job succeeded and each rank printed its steps: how pods ended says nothing more": {`training-job.* .outcome.(ended|pods|pods.*): .*`},
		"it names the observed object, for people":                                            {`rank-log.* .index: .*`},
		"ranks say themselves when they started, else the pods do, if each does":              {`rank-log.* .podStarted: .*`, `rank-log.* .ranks.started: left out`},
		"one rank that reports it is enough":                                                  {`rank-log.* .ranks.completed: .*`},
		"rank 0 and device 0 are omitted in JSON":                                             {`rank-log.* .(ranks.rank|gpus.rank|gpus.device): left out`},
		"one loss, time or rate of many is outweighed by the median":                          {`rank-log.* .ranks.steps.(loss|stepMs|tflops|tokensPerSecond): .*`},
		"the output of nvidia-smi explains a slow GPU, and the rate shows it":                 {`rank-log.* .gpus.(powerDefaultWatts|powerLimitWatts|smClockMHz): .*`},
		"PyTorch does not know it in older releases; the rank tells GPUs apart":               {`rank-log.* .gpus.uuid: .*`},
		"a rate is by the second, of products of any size":                                    {`rank-log.* .gpus.(seconds|size): (1|1 less|1 more|x1000|x0.5)`},
		"free space and source explain an error":                                              {`rank-log.* .checkpoints.(freeBytes|source): .*`},
		"pod 0 is omitted in JSON":                                                            {`rank-log.* .checkpoints.index: left out`},
		"the rate of the storage is a figure without a limit":                                 {`rank-log.* .checkpoints.(readSeconds|writeSeconds): (1|1 less|1 more|x1000|x0.5)`},
		"a rate near the median is as healthy":                                                {`rank-log.* .gpus.tflops: 1 (less|more)`},
	}
	for framework, own := range map[string]checktest.Harmless{
		frameworkTorchtitan: {
			"MFU is computed from our own peak and the TFLOPS": {`rank-log.* .ranks.(parameters|printedPeakTFLOPS|steps.printedMFUPercent): .*`},
		},
		frameworkMegatron: {
			"no iteration is omitted in JSON": {`rank-log.* .ranks.steps.(nan|skipped): (left out|-1)`},
		},
	} {
		t.Run(framework, func(t *testing.T) {
			t.Parallel()
			harmless := maps.Clone(both)
			maps.Copy(harmless, own)
			g := testGate(t, testSite(framework))
			_, obs := observeAndJudge(t, g, fakeTrainer{})
			checktest.EveryField(t, framework, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, harmless, checktest.Sample(8))
		})
	}
}
