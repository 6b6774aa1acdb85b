package training

import (
	"bytes"
	"fmt"

	"github.com/firstlight/firstlight/internal/probe/trainer"
)

// Frameworks of the site file.
const (
	frameworkTorchtitan = "torchtitan"
	frameworkMegatron   = "megatron"
)

const msPerSecond = 1e3

// read parses one pod's log into f.
func (f *RankFigures) read(framework string, log []byte) error {
	err := f.readRanks(framework, log)
	gpus, problem := trainer.ParseMatmul(bytes.NewReader(log))
	f.GPUs = gpus
	if problem != nil {
		f.Problems = append(f.Problems, problem.Error())
	}
	f.Checkpoints, problem = trainer.ParseCheckpointTests(bytes.NewReader(log))
	if problem != nil {
		f.Problems = append(f.Problems, problem.Error())
	}
	return err
}

// readRanks parses the trainer's output.
func (f *RankFigures) readRanks(framework string, log []byte) error {
	switch framework {
	case frameworkTorchtitan:
		l, err := trainer.ParseTorchtitan(bytes.NewReader(log))
		f.torchtitan(l)
		return err
	case frameworkMegatron:
		l, err := trainer.ParseMegatron(bytes.NewReader(log))
		f.megatron(l)
		return err
	default:
		return fmt.Errorf("unknown framework %q: want one of torchtitan, megatron", framework)
	}
}

func (f *RankFigures) torchtitan(l trainer.TorchtitanLog) {
	f.Failures, f.Problems, f.Clipped = l.Failures, l.Problems, l.Clipped
	for _, r := range l.Ranks {
		rank := Rank{Rank: r.Rank, Started: r.Started, Completed: r.Completed, PrintedPeakTFLOPS: r.PeakTFLOPS, Parameters: r.Parameters}
		for _, s := range r.Steps {
			tps := s.TPS
			step := Step{Step: s.Step, TokensPerSecond: &tps, TFLOPS: s.TFLOPS, PrintedMFU: s.MFU, Loss: s.Loss, LossText: s.LossText}
			if r.TokensPerStep > 0 && tps > 0 {
				ms := float64(r.TokensPerStep) / tps * msPerSecond
				step.Ms = &ms
			}
			rank.Steps = append(rank.Steps, step)
		}
		f.Ranks = append(f.Ranks, rank)
	}
}

func (f *RankFigures) megatron(l trainer.MegatronLog) {
	f.Failures, f.Problems, f.Clipped, f.Stragglers = l.Failures, l.Problems, l.Clipped, l.Stragglers
	f.PipelineStages = l.PipelineStages
	for _, r := range l.Ranks {
		rank := Rank{Rank: r.Rank, Started: r.Started, Completed: r.Completed}
		for _, s := range r.Steps {
			ms := s.StepMS
			rank.Steps = append(rank.Steps, Step{Step: s.Step, Ms: &ms, TFLOPS: s.TFLOPS, Loss: s.Loss, LossText: s.LossText, Skipped: s.Skipped, NaN: s.NaN})
		}
		f.Ranks = append(f.Ranks, rank)
	}
}
