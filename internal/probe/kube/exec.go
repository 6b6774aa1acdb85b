package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

// Exec runs a command in a container and copies its output, over a websocket if the API server
// supports it and SPDY otherwise, like kubectl exec. stdin may be nil. A non-zero exit code is not an error. The end of ctx
// closes the standard input of the command and does not end it.
func (c *Cluster) Exec(ctx context.Context, namespace, pod, container string, argv []string, stdin io.Reader, stdout, stderr io.Writer) (exit int, err error) {
	url := c.Client.CoreV1().RESTClient().Post().
		Resource("pods").Namespace(namespace).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: argv, Stdin: stdin != nil, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	overSPDY, err := remotecommand.NewSPDYExecutor(c.Config, http.MethodPost, url)
	if err != nil {
		return 0, fmt.Errorf("create SPDY transport: %w", err)
	}
	overWebsocket, err := remotecommand.NewWebSocketExecutor(c.Config, http.MethodGet, url.String())
	if err != nil {
		return 0, fmt.Errorf("create websocket transport: %w", err)
	}
	executor, err := remotecommand.NewFallbackExecutor(overWebsocket, overSPDY, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return 0, fmt.Errorf("create transport: %w", err)
	}
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout, Stderr: stderr})
	if exited, ok := errors.AsType[utilexec.ExitError](err); ok && exited.Exited() {
		return exited.ExitStatus(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("exec in pod %s/%s, container %s: %w", namespace, pod, container, err)
	}
	return 0, nil
}
