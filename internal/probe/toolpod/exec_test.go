package toolpod

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	streaming "k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// runtime is a container runtime whose commands run until their standard input ends. It ends no command of a client that
// has gone.
type runtime struct {
	started chan []string
	ended   chan error // of the standard input
}

func (r runtime) ExecInContainer(_ context.Context, _, _, _ string, argv []string, in io.Reader, _, _ io.WriteCloser, _ bool, _ <-chan streaming.TerminalSize, _ time.Duration) error {
	r.started <- argv
	if in == nil {
		r.ended <- errors.New("there is no standard input")
		return nil
	}
	_, err := in.Read(make([]byte, 1))
	r.ended <- err
	return nil
}

// The standard input of a load ends when its client stops waiting, through the streaming of Kubernetes' own client and server.
func TestLoadInAPodEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := runtime{started: make(chan []string, 1), ended: make(chan error, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		query := req.URL.Query() // of the API server; the kubelet's names differ
		options := &streaming.Options{Stdin: query.Get("stdin") == "true", Stdout: query.Get("stdout") == "true", Stderr: query.Get("stderr") == "true"}
		streaming.ServeExec(w, req, r, "nvidia-dcgm-x", "", "nvidia-dcgm-ctr", query["command"], options, time.Hour, time.Minute, streaming.SupportedStreamingProtocols)
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	h := New(siteWith("pod"), nil, func(context.Context) (*kube.Cluster, error) {
		return &kube.Cluster{Client: client, Config: config}, nil
	})
	ctx, cancel := context.WithCancel(ssh.WithLoad(t.Context(), time.Hour))
	defer cancel()
	result := make(chan error, 1)
	go func() {
		_, err := h.exec(ctx, pod{namespace: "gpu-operator", name: "nvidia-dcgm-x", container: "nvidia-dcgm-ctr"}, []string{"dcgmi", "diag"})
		result <- err
	}()
	select {
	case argv := <-r.started:
		if want := withSession([]string{"dcgmi", "diag"}); !slices.Equal(argv, want) {
			t.Errorf("%q, want %q", argv, want)
		}
	case err := <-result:
		t.Fatalf("it did not start: %v", err)
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := <-r.ended; err == nil || err.Error() == "there is no standard input" {
		t.Errorf("the standard input did not end: %v", err)
	}
}
