package gangjob

import (
	"bytes"
	"context"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/logline"
	"github.com/firstlight/firstlight/internal/workload"
)

// followDeadline limits the wait for the rest of a followed log after the gang has ended.
const followDeadline = time.Minute

// follower reads the log of index 0 while its container runs. A nil follower has followed nothing.
type follower struct {
	cancel context.CancelFunc
	ended  chan struct{}
	// pod and data are its name and what it printed, at most logline.MaxBytes; read after ended is closed.
	pod  string
	data []byte
}

// follow follows the log of index 0 of a gang once it runs.
func follow(ctx context.Context, gang *workload.Gang, waitRunning func() error) *follower {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		if waitRunning() != nil { // the gang's end has the reason
			return
		}
		pods, err := gang.Pods(ctx)
		i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return workload.Index(&p) == 0 && p.DeletionTimestamp == nil })
		if err != nil || i < 0 {
			return
		}
		stream, err := gang.FollowLogs(ctx, pods[i].Name)
		if err != nil {
			return
		}
		defer func() { _ = stream.Close() }()
		f.pod = pods[i].Name
		f.data, _ = io.ReadAll(io.LimitReader(stream, logline.MaxBytes)) // complete compares it with the log
	}()
	return f
}

// wait waits until the log has ended.
func (f *follower) wait(ctx context.Context) {
	if f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, followDeadline)
	defer cancel()
	select {
	case <-f.ended:
	case <-ctx.Done():
	}
}

func (f *follower) stop() {
	f.cancel()
	<-f.ended
}

// complete stops, and puts the beginning that a kubelet has rotated away back into the log.
func (f *follower) complete(logs []Log) {
	if f == nil {
		return
	}
	f.stop()
	for i := range logs {
		if logs[i].Pod.Pod == f.pod && logs[i].Err == "" {
			logs[i].Data = whole(f.data, logs[i].Data)
		}
	}
}

// whole is the log of a container, of which a kubelet serves the end. The followed log is whole if it ends as that does,
// and otherwise the end counts. The API server ends a stream in the same way whether the container has ended or the kubelet was restarted.
func whole(followed, end []byte) []byte {
	if len(end) > 0 && bytes.HasSuffix(followed, end) {
		return followed
	}
	return end
}
