package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Backoff of failed containers: a tenth of the kubelet's, which doubles from ten seconds to five
// minutes.
const (
	firstBackOff = time.Second
	maxBackOff   = 30 * time.Second
)

// rotateInterval is a tenth of the kubelet's containerLogMonitorInterval.
const rotateInterval = time.Second

// cleanupTimeout bounds API requests that clean up after a pod.
const cleanupTimeout = 30 * time.Second

// worker runs one pod.
type worker struct {
	runtime   *runtime
	container corev1.Container
	kind      kind
	env       environment
	sidecars  []*sidecar
	dir       string

	ctx    context.Context //nolint:containedctx // lifetime of the pod
	cancel context.CancelFunc

	changed *broadcast
	// pod as first observed: its identity and resources do not change.
	pod *corev1.Pod

	mu    sync.Mutex
	last  *corev1.Pod // latest version
	runs  int         // current or last attempt
	ended int         // last ended attempt; -1: none
	// rotated is where the current file of the last attempt's log begins, as a kubelet has rotated it.
	rotated int64
	at      string // host:port of its program; empty: none
}

func newWorker(r *runtime, pod *corev1.Pod) *worker {
	ctx, cancel := context.WithCancel(r.life)
	w := &worker{
		runtime: r, pod: pod, last: pod, changed: newBroadcast(), ctx: ctx, cancel: cancel, ended: -1,
		dir: filepath.Join(r.dir, pod.Namespace+"_"+pod.Name+"_"+string(pod.UID)),
	}
	if len(pod.Spec.Containers) > 0 {
		w.container = pod.Spec.Containers[0]
	}
	w.kind, w.env, w.sidecars = recognise(w.container), environmentOf(w.container), sidecarsOf(w)
	return w
}

// update stores the pod's new version and stops a pod that is being deleted.
func (w *worker) update(pod *corev1.Pod) {
	w.mu.Lock()
	w.last = pod
	w.mu.Unlock()
	if pod.DeletionTimestamp != nil {
		w.cancel()
	}
	w.changed.notify()
}

func (w *worker) podName() string { return w.pod.Name }

// attempt is the current or last attempt.
func (w *worker) attempt() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs
}

// over reports that an attempt has ended and its log is complete.
func (w *worker) over(attempt int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended >= attempt || w.ctx.Err() != nil
}

func (w *worker) begin(attempt int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs, w.rotated = attempt, 0
}

// logBegins is where what a kubelet has not rotated away of an attempt's log begins.
func (w *worker) logBegins(attempt int) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if attempt != w.runs {
		return 0
	}
	return w.rotated
}

// rotate shows the current file of the log alone to those who read it from now on. A kubelet checks the sizes of logs of running
// containers at intervals: until then it serves all of it.
func (w *worker) rotate(at int64) {
	if at == 0 || sleep(w.ctx, rotateInterval) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rotated = at
}

func (w *worker) end(attempt int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = attempt
}

// endAll marks all containers as ended before they started.
func (w *worker) endAll() {
	w.end(0)
	for _, s := range w.sidecars {
		close(s.done)
	}
}

func (w *worker) current() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// run simulates the pod from its binding to its deletion.
func (w *worker) run() {
	defer w.cancel()
	if err := w.live(); err != nil && w.ctx.Err() == nil {
		w.runtime.log.Error("pod", "namespace", w.pod.Namespace, "pod", w.pod.Name, "err", err)
	}
	w.runtime.world.Release(string(w.pod.UID))
	<-w.ctx.Done() // logs are kept until the pod is deleted
	w.cleanUp()
}

// makeLogs makes empty log files: requests for logs come before the container runs, and find the worker as soon as the
// runtime has it.
func (w *worker) makeLogs() error {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return fmt.Errorf("make log directory: %w", err)
	}
	logs := []string{w.logPath(0)}
	for _, s := range w.sidecars {
		logs = append(logs, s.logPath(0))
	}
	for _, path := range logs {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return fmt.Errorf("make log file: %w", err)
		}
	}
	return nil
}

func (w *worker) live() error {
	if err := w.putLogs(0, -1); err != nil {
		return err
	}
	if !w.awaitRunning() {
		w.endAll()
		return nil
	}
	have, err := w.occupy()
	if err != nil {
		return w.refuse(err)
	}
	var sidecars sync.WaitGroup
	for _, s := range w.sidecars {
		sidecars.Go(func() { s.run(have) })
	}
	defer sidecars.Wait()
	return w.attempts(have)
}

func (w *worker) logPath(attempt int) string {
	return filepath.Join(w.dir, strconv.Itoa(attempt)+".log")
}

// putLogs publishes the logs of an attempt and the previous one (-1: none).
func (w *worker) putLogs(current, previous int) error {
	before := ""
	if previous >= 0 {
		before = w.logPath(previous)
	}
	files := []logFile{{container: w.container.Name, current: w.logPath(current), previous: before}}
	for _, s := range w.sidecars {
		files = append(files, logFile{container: s.container.Name, current: s.logPath(0)})
	}
	return put(w.ctx, w.runtime.dyn, logsResource(), logsOf(w.runtime.names.ofPod(w.pod), w.pod, files...))
}

func (w *worker) awaitRunning() bool {
	for {
		changed := w.changed.wait()
		switch w.current().Status.Phase {
		case corev1.PodRunning:
			return true
		case corev1.PodSucceeded, corev1.PodFailed:
			return false
		case corev1.PodPending, corev1.PodUnknown, "": // may still run
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			return false
		}
	}
}

// attempts runs the container until it has ended for good.
func (w *worker) attempts(have held) error {
	pause := firstBackOff
	for attempt := 0; ; attempt++ {
		started := time.Now()
		exit, err := w.once(attempt, have)
		if err != nil || w.ctx.Err() != nil {
			return err
		}
		finished := time.Now()
		if !again(w.pod.Spec.RestartPolicy, exit) {
			if !w.awaitSidecars() {
				return nil
			}
			// Release the GPUs before the status reports the end.
			w.runtime.world.Release(string(w.pod.UID))
			return patchStatus(w.ctx, w.runtime.client, w.pod, ended(w.pod, exit, attempt, started, finished))
		}
		if err := w.backOff(attempt, exit, pause, started, finished); err != nil {
			return err
		}
		pause = min(2*pause, maxBackOff)
	}
}

// awaitSidecars waits for the sidecars; false: the pod was deleted.
func (w *worker) awaitSidecars() bool {
	for _, s := range w.sidecars {
		select {
		case <-s.done:
		case <-w.ctx.Done():
			return false
		}
	}
	return true
}

// again is the kubelet's restart rule.
func again(policy corev1.RestartPolicy, exit int) bool {
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && exit != 0
}

func (w *worker) once(attempt int, have held) (int, error) {
	w.begin(attempt)
	defer w.end(attempt)
	out, err := createPodLog(w.logPath(attempt), time.Now)
	if err != nil {
		return 1, err
	}
	out.maxBytes = w.runtime.world.Recent().ContainerLogs.MaxBytes
	exit, err := w.program(out, attempt, have)
	w.rotate(out.rotated())
	return exit, errors.Join(err, out.Close())
}

// backOff reports a crash loop for the pause and restarts the container.
func (w *worker) backOff(attempt, exit int, pause time.Duration, started, finished time.Time) error {
	if err := annotateHold(w.ctx, w.runtime.client, w.pod, true); err != nil {
		return err
	}
	if err := w.putLogs(attempt, attempt); err != nil {
		return err
	}
	if err := patchStatus(w.ctx, w.runtime.client, w.pod, backingOff(w.pod, exit, attempt, 10*pause, started, finished)); err != nil {
		return err
	}
	if err := sleep(w.ctx, pause); err != nil {
		return err
	}
	if err := os.WriteFile(w.logPath(attempt+1), nil, 0o600); err != nil {
		return fmt.Errorf("make log file: %w", err)
	}
	if err := w.putLogs(attempt+1, attempt); err != nil {
		return err
	}
	return patchStatus(w.ctx, w.runtime.client, w.pod, restarted(w.pod, attempt+1, terminated(exit, started, finished), time.Now()))
}

// cleanUp deletes the pod's files and, unless the runtime is stopping, its API objects.
func (w *worker) cleanUp() {
	if w.runtime.life.Err() == nil {
		ctx, cancel := context.WithTimeout(w.runtime.life, cleanupTimeout)
		defer cancel()
		name := w.runtime.names.ofPod(w.pod)
		err := errors.Join(
			remove(ctx, w.runtime.dyn, logsResource(), name, w.pod),
			remove(ctx, w.runtime.dyn, forwardsResource(), name, w.pod),
		)
		if err != nil && ctx.Err() == nil {
			w.runtime.log.Warn("clean up after a pod", "err", err) // garbage collection deletes them later
		}
	}
	if err := os.RemoveAll(w.dir); err != nil {
		w.runtime.log.Warn("clean up after a pod", "err", err)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
