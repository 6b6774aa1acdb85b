package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/poll/polltest"
)

func TestRunProcess(t *testing.T) {
	t.Parallel()
	run := func(ctx context.Context, script string, starved time.Duration) (string, int, time.Duration) {
		var out bytes.Buffer
		cmd := exec.Command("sh", "-c", script)
		cmd.Stdout, cmd.SysProcAttr = &out, ownGroup()
		began := time.Now()
		exit, err := runProcess(ctx, cmd, starved)
		if err != nil {
			t.Error(err)
		}
		return out.String(), exit, time.Since(began)
	}
	if out, exit, _ := run(t.Context(), "echo hello; exit 3", 0); out != "hello\n" || exit != 3 {
		t.Errorf("%q, exit %d", out, exit)
	}
	if _, exit, _ := run(t.Context(), "kill -9 $$", 0); exit != killed {
		t.Errorf("exit %d of a process that is killed", exit)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	// The shell's child ends, too: it has the output open.
	if out, _, took := run(ctx, "echo begun; sleep 600; echo ended", 0); !strings.HasPrefix(out, "begun") || strings.Contains(out, "ended") || took > time.Minute {
		t.Errorf("%q after %s", out, took)
	}
	if _, exit, took := run(t.Context(), "sleep 0.4; exit 0", 200*time.Millisecond); exit != 0 || took > time.Minute {
		t.Errorf("exit %d after %s", exit, took)
	}
	if _, err := runProcess(t.Context(), exec.Command("/no/such/program"), 0); err == nil {
		t.Error("no error")
	}
}

// The pod of an image that cannot be pulled was held as ready. kwok starts such a pod when it is pending (stage pod-start
// of internal/lab/component/stages.yaml): the reason was overwritten, and a gate that had not read it by then waited for its timeout.
func TestAnImageThatIsNotPulledStaysSo(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "load", UID: "load"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "loadgen", Image: "loadgen:1"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	client := fake.NewClientset(pod)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &worker{runtime: &runtime{client: client}, pod: pod, ctx: ctx}
	ended := make(chan error, 1)
	go func() { ended <- w.notPulled() }()
	polltest.UntilNil(t, "the status of the pod", func() error {
		p, err := client.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		switch {
		case err != nil:
			return err
		case p.Status.Phase != corev1.PodPending || len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].State.Waiting == nil:
			return fmt.Errorf("it is %+v", p.Status)
		case p.Annotations[holdAnnotation] != holdCreating || isReady(p):
			t.Errorf("hold %q, ready %v: kwok starts it", p.Annotations[holdAnnotation], isReady(p))
		}
		return nil
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRecogniseFirstlight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command []string
		want    kind
	}{
		{[]string{"/usr/local/bin/firstlight", "load", "--plan", `{"model":"vllm"}`}, kindFirstlight},
		{[]string{"/bin/other", "load"}, kindOther},
		// A pod could run every command of firstlight on the machine of the lab.
		{[]string{"/usr/local/bin/firstlight", "lab", "down"}, kindOther},
		{[]string{"/usr/local/bin/firstlight", "--help", "load"}, kindOther},
		{[]string{"/usr/local/bin/firstlight"}, kindOther},
	} {
		if got := recognise(corev1.Container{Command: tt.command}); got != tt.want {
			t.Errorf("%q is %q", tt.command, got)
		}
	}
}
