package gangjob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/probe/logline"
	"github.com/firstlight/firstlight/internal/workload"
)

const (
	// deleteDeadline limits the deletion of a gang.
	deleteDeadline = 3 * time.Minute
	// logDeadline limits the reading of logs after the gang has ended.
	logDeadline = 5 * time.Minute
	// podsDeadline limits the listing of a gang's pods after its timeout.
	podsDeadline = time.Minute
	// logReaders is the number of concurrent log readers.
	logReaders = 8
)

// The values of Outcome.Ended.
const (
	// EndedDone: every pod has terminated, or the Job has failed.
	EndedDone = "done"
	// EndedTimeout: the gang still ran at its timeout.
	EndedTimeout = "timeout"
	// EndedNotRun: the gang was not created, not placed, or not started, or its end was not
	// observed.
	EndedNotRun = "not-run"
)

// Outcome is the result of a gang.
type Outcome struct {
	Namespace string `json:"namespace,omitempty"`
	Ended     string `json:"ended"`
	// Problem explains an end other than EndedDone.
	Problem   string             `json:"problem,omitempty"`
	Succeeded bool               `json:"succeeded"`
	Pods      []workload.Outcome `json:"pods"`
	// Lacking are the nodes that had too few free GPUs for a pod, of a gang that was not created.
	Lacking []string `json:"lacking,omitempty"`
	// Refused: a pod or the Job failed before the gang ran.
	Refused bool `json:"refused,omitempty"`
	// Claims are the GPUs that claims allocate to the placed pods; nil if the pods claim none.
	Claims *allocation.Figures `json:"claims,omitempty"`
	// Hosts are the nodes of Slurm by the names of their machines (NodeHostName), where these differ.
	Hosts map[string]string `json:"hosts,omitempty"`
	// Lost are nodes that failed under a job of Slurm, with their states.
	Lost map[string]string `json:"lost,omitempty"`
	// Leftover is the error of the deletion.
	Leftover string `json:"leftover,omitempty"`
}

// NotRun is the error of a gang that never ran, or whose end was not observed; nil for one that
// ran.
func (o Outcome) NotRun() error {
	if o.Ended != EndedNotRun {
		return nil
	}
	return errors.New(o.Problem)
}

// Log is one pod's log.
type Log struct {
	Pod  workload.Outcome
	Data []byte
	// Err is why it could not be read.
	Err string
}

// Wanted selects the pods whose logs Run returns.
type Wanted int

const (
	// All logs are read after the end of the gang. Each is of the ranks of one pod, whatever the number of pods.
	All Wanted = iota
	// First is the log of index 0, of a gang that prints everything there. It grows with the number of pods, and is
	// followed while the gang runs: a kubelet serves only what came after it last rotated the log (containerLogMaxSize,
	// 10Mi by default).
	First
)

// Run starts a gang if enough GPUs are free, waits for its end for at most timeout, reads the
// wanted logs, and deletes the gang. The error is only for an ended context.
func Run(ctx context.Context, l *workload.Launcher, spec workload.Spec, timeout time.Duration, wanted Wanted) (Outcome, []Log, error) {
	if spec.GPUs > 0 {
		reason, lacking, err := free(ctx, l, spec)
		if err != nil {
			reason = err.Error()
		}
		if reason != "" {
			return Outcome{Ended: EndedNotRun, Problem: reason, Lacking: lacking}, nil, ctx.Err()
		}
	}
	gang, err := l.Start(ctx, spec)
	if err != nil {
		return Outcome{Ended: EndedNotRun, Problem: err.Error()}, nil, ctx.Err()
	}
	out := Outcome{Namespace: gang.Namespace}
	logs := await(ctx, gang, timeout, wanted, &out)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteDeadline)
	defer cancel()
	if err := gang.Delete(end); err != nil {
		out.Leftover = err.Error()
	}
	if err := ctx.Err(); err != nil {
		return out, logs, fmt.Errorf("run %s: %w", spec.Name, err)
	}
	return out, logs, nil
}

func await(ctx context.Context, gang *workload.Gang, timeout time.Duration, wanted Wanted, out *Outcome) []Log {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := gang.WaitBound(limited); err != nil {
		out.Ended, out.Problem, out.Refused = EndedNotRun, err.Error(), errors.Is(err, workload.ErrFailed)
		return nil
	}
	out.Claims = Claims(limited, gang)
	starting, started := context.WithCancel(limited)
	defer started()
	var first *follower
	if wanted == First {
		first = follow(ctx, gang, func() error { return gang.WaitRunning(starting) })
		defer first.stop()
	}
	result, err := gang.WaitDone(limited)
	started() // or it has failed to
	out.Succeeded, out.Pods = result.Succeeded, result.Pods
	switch {
	case errors.Is(err, workload.ErrReplaced): // its logs show what ended the first pods, and no result
		out.Ended, out.Problem = EndedNotRun, err.Error()
	case err == nil:
		out.Ended = EndedDone
		if !result.Succeeded {
			out.Problem = result.Reason
		}
	case errors.Is(err, workload.ErrFailed):
		out.Ended, out.Problem, out.Refused = EndedNotRun, err.Error(), true
	default:
		out.Ended, out.Problem = EndedTimeout, err.Error()
		if unseen := stillRuns(ctx, gang); unseen != nil {
			out.Ended, out.Problem = EndedNotRun, fmt.Sprintf("%v: %v", unseen, err)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	if out.Ended == EndedDone {
		first.wait(ctx)
	}
	reading, stop := context.WithTimeout(ctx, logDeadline)
	defer stop()
	logs := readLogs(reading, gang, result.Pods, wanted)
	first.complete(logs)
	return logs
}

// stillRuns returns nil if every pod of the gang has started and one has not terminated. A watch that was down until the
// timeout does not show that the gang hangs, and neither does a pod whose container the kubelet could not start.
func stillRuns(ctx context.Context, gang interface {
	Pods(ctx context.Context) ([]corev1.Pod, error)
}) error {
	ctx, cancel := context.WithTimeout(ctx, podsDeadline)
	defer cancel()
	pods, err := gang.Pods(ctx)
	if err != nil {
		return fmt.Errorf("the end of the gang was not observed: list its pods: %w", err)
	}
	runs := false
	for i := range pods {
		phase := pods[i].Status.Phase
		if phase == corev1.PodPending {
			return fmt.Errorf("the gang did not run: no container of pod %s on %s started", pods[i].Name, pods[i].Spec.NodeName)
		}
		runs = runs || (phase != corev1.PodSucceeded && phase != corev1.PodFailed)
	}
	if !runs {
		return fmt.Errorf("the end of the gang was not observed: all %d pods have terminated", len(pods))
	}
	return nil
}

// readLogs returns logs in the order of the pods' index.
func readLogs(ctx context.Context, gang *workload.Gang, pods []workload.Outcome, wanted Wanted) []Log {
	var logs []Log
	for _, p := range pods {
		if wanted == All || p.Index == 0 {
			logs = append(logs, Log{Pod: p})
		}
	}
	var readers errgroup.Group
	readers.SetLimit(logReaders)
	for i := range logs {
		readers.Go(func() error {
			data, err := readLog(ctx, gang, logs[i].Pod.Pod)
			logs[i].Data = data
			if err != nil {
				logs[i].Err = err.Error()
			}
			return nil
		})
	}
	_ = readers.Wait() // readers return nil: their errors are in the logs
	return logs
}

func readLog(ctx context.Context, gang *workload.Gang, pod string) ([]byte, error) {
	stream, err := gang.Logs(ctx, pod)
	if err != nil {
		return nil, fmt.Errorf("log of pod %s: %w", pod, err)
	}
	defer func() { _ = stream.Close() }()
	data, err := io.ReadAll(io.LimitReader(stream, logline.MaxBytes))
	if err != nil {
		return data, fmt.Errorf("log of pod %s: %w", pod, err)
	}
	return data, nil
}
