package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/retry"
)

// kubelet plays the pods that are bound to a node: it runs each one's command as a
// process of this machine, with its ConfigMaps as files and its ServiceAccount's
// token, and tells of it as a kubelet does. It knows pods that are tried once, of one
// container, with volumes of the kinds emptyDir and configMap, and nothing else.
type kubelet struct {
	client kubernetes.Interface
	config *rest.Config
	node   string
	dir    string
	// images maps an image to the program that runs as its command; an image without an
	// entry cannot be pulled.
	images map[string]string
	// env returns additional environment variables of every process.
	env func(pod *corev1.Pod) []string

	mu      sync.Mutex
	playing map[types.UID]context.CancelFunc
	running sync.WaitGroup
}

// start registers the node and plays until the test ends.
func (k *kubelet) start(t *testing.T, limits corev1.ResourceList) {
	t.Helper()
	k.playing = map[types.UID]context.CancelFunc{}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	if err := k.register(ctx, limits); err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(k.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = "spec.nodeName=" + k.node
	}))
	informer := factory.Core().V1().Pods().Informer()
	look := func(obj any) {
		if pod, ok := obj.(*corev1.Pod); ok {
			k.look(ctx, pod)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: look, UpdateFunc: func(_, obj any) { look(obj) },
		DeleteFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				k.end(pod.UID)
			}
		},
	}); err != nil {
		t.Fatal(err)
	}
	k.running.Go(func() { informer.RunWithContext(ctx) })
	k.running.Go(func() { k.beat(ctx) })
	t.Cleanup(func() {
		cancel()
		k.running.Wait()
	})
}

func (k *kubelet) register(ctx context.Context, limits corev1.ResourceList) error {
	_, err := k.client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: k.node, Labels: map[string]string{corev1.LabelOSStable: "linux", corev1.LabelHostname: k.node}},
		Status:     corev1.NodeStatus{Capacity: limits, Allocatable: limits, Conditions: k.ready()},
	}, metav1.CreateOptions{})
	return err
}

func (k *kubelet) ready() []corev1.NodeCondition {
	return []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "TestKubelet", LastHeartbeatTime: metav1.Now()}}
}

// beat tells that the node lives.
func (k *kubelet) beat(ctx context.Context) {
	_ = wait.PollUntilContextCancel(ctx, 20*time.Second, false, func(ctx context.Context) (bool, error) {
		node, err := k.client.CoreV1().Nodes().Get(ctx, k.node, metav1.GetOptions{})
		if err == nil {
			node.Status.Conditions = k.ready()
			_, _ = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}) // the next one may
		}
		return false, nil
	})
}

// look begins to play a pod, or ends it.
func (k *kubelet) look(ctx context.Context, pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	stop, known := k.playing[pod.UID]
	if known && pod.DeletionTimestamp != nil {
		stop()
	}
	if known || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		if !known && pod.DeletionTimestamp != nil {
			k.running.Go(func() { k.forget(ctx, pod) })
		}
		return
	}
	playing, cancel := context.WithCancel(ctx)
	k.playing[pod.UID] = cancel
	k.running.Go(func() {
		defer cancel()
		k.play(playing, pod)
		<-playing.Done() // until it is deleted
		k.forget(ctx, pod)
	})
}

func (k *kubelet) end(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if stop, known := k.playing[uid]; known {
		stop()
	}
}

// forget confirms the end of a pod that is being deleted.
func (k *kubelet) forget(ctx context.Context, pod *corev1.Pod) {
	_ = k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	}) // gone, or the test is over
}

// play is the life of a pod's container.
func (k *kubelet) play(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		return
	}
	binary, existing := k.images[pod.Spec.Containers[0].Image]
	if !existing {
		k.tell(ctx, pod, corev1.PodPending, "", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}})
		k.tell(ctx, pod, corev1.PodPending, "", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "ImagePullBackOff", Message: fmt.Sprintf("Back-off pulling image %q", pod.Spec.Containers[0].Image),
		}})
		return
	}
	k.tell(ctx, pod, corev1.PodPending, "", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
	dir := filepath.Join(k.dir, string(pod.UID))
	cmd, err := k.command(ctx, pod, binary, dir)
	if err != nil {
		k.tell(ctx, pod, corev1.PodFailed, "", terminated(exitNotStarted, "StartError", err.Error()))
		return
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		k.tell(ctx, pod, corev1.PodFailed, "", terminated(exitNotStarted, "StartError", err.Error()))
		return
	}
	k.tell(ctx, pod, corev1.PodRunning, "", corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}})
	ended, late := make(chan struct{}), make(chan bool, 1)
	k.running.Go(func() {
		deadline := time.NewTimer(time.Duration(*pod.Spec.ActiveDeadlineSeconds) * time.Second)
		defer deadline.Stop()
		select {
		case <-deadline.C:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone
			late <- true
		case <-ended:
			late <- false
		}
	})
	err = cmd.Wait()
	close(ended)
	k.conclude(ctx, pod, cmd, err, <-late, out.String())
}

// conclude tells how a container ended, as a kubelet does.
func (k *kubelet) conclude(ctx context.Context, pod *corev1.Pod, cmd *exec.Cmd, err error, late bool, output string) {
	ctx = context.WithoutCancel(ctx)
	code := int32(cmd.ProcessState.ExitCode())
	if code < 0 {
		code = 137
	}
	const kept = 2048 // bytes of the log that a kubelet keeps
	message := output[max(0, len(output)-kept):]
	switch {
	case late:
		k.tell(ctx, pod, corev1.PodFailed, "DeadlineExceeded", terminated(code, "Error", message))
	case err == nil:
		k.tell(ctx, pod, corev1.PodSucceeded, "", terminated(0, "Completed", ""))
	default:
		k.tell(ctx, pod, corev1.PodFailed, "", terminated(code, "Error", message))
	}
}

func terminated(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message, FinishedAt: metav1.Now()}}
}

// tell writes a pod's status.
func (k *kubelet) tell(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, reason string, state corev1.ContainerState) {
	pods := k.client.CoreV1().Pods(pod.Namespace)
	_ = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil || now.UID != pod.UID {
			return err
		}
		now.Status.Phase, now.Status.Reason = phase, reason
		if now.Status.StartTime == nil {
			now.Status.StartTime = new(metav1.Now())
		}
		now.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image, State: state, Ready: state.Running != nil,
		}}
		_, err = pods.UpdateStatus(ctx, now, metav1.UpdateOptions{})
		return err
	}) // the pod is gone, or the test is over
}

// command is a container's process, in a directory that stands for its file system.
func (k *kubelet) command(ctx context.Context, pod *corev1.Pod, binary, dir string) (*exec.Cmd, error) {
	c := pod.Spec.Containers[0]
	if c.Command[0] != "firstlight" {
		return nil, fmt.Errorf("exec: %q: executable file not found in $PATH", c.Command[0])
	}
	at, err := k.mount(ctx, pod, dir)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, e := range c.Env {
		values[e.Name] = at(e.Value)
		if e.ValueFrom != nil {
			values[e.Name] = field(pod, e.ValueFrom.FieldRef.FieldPath)
		}
	}
	kubeconfig, err := k.identity(ctx, pod, dir)
	if err != nil {
		return nil, err
	}
	var args []string
	for _, a := range c.Args {
		args = append(args, at(expand(a, values)))
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = at(c.WorkingDir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + kubeconfig, "NO_PROXY=*"}
	for name, value := range values {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, k.env(pod)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
	return cmd, nil
}

// mount makes the volumes, and returns what a path in the container is here.
func (k *kubelet) mount(ctx context.Context, pod *corev1.Pod, dir string) (at func(string) string, err error) {
	paths := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		paths[v.Name] = filepath.Join(dir, v.Name)
		if err := os.MkdirAll(paths[v.Name], 0o700); err != nil {
			return nil, err
		}
		if v.ConfigMap == nil {
			continue
		}
		var m *corev1.ConfigMap
		err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			m, err = k.client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return nil, err
		}
		for name, text := range m.Data {
			err = errors.Join(err, os.WriteFile(filepath.Join(paths[v.Name], name), []byte(text), 0o400))
		}
		for name, data := range m.BinaryData {
			err = errors.Join(err, os.WriteFile(filepath.Join(paths[v.Name], name), data, 0o400))
		}
		if err != nil {
			return nil, err
		}
	}
	mounts := pod.Spec.Containers[0].VolumeMounts
	return func(path string) string {
		for _, m := range mounts {
			if rest, ok := strings.CutPrefix(path, m.MountPath); ok && (rest == "" || rest[0] == '/') && paths[m.Name] != "" {
				return paths[m.Name] + rest
			}
		}
		return path
	}, nil
}

// identity is a kubeconfig of the pod's ServiceAccount.
func (k *kubelet) identity(ctx context.Context, pod *corev1.Pod, dir string) (string, error) {
	token, err := tokenOf(ctx, k.client, pod.Namespace, pod.Spec.ServiceAccountName)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kubeconfig")
	return path, clientcmd.WriteToFile(kubeconfigOf(k.config, token), path)
}

func tokenOf(ctx context.Context, client kubernetes.Interface, namespace, account string) (string, error) {
	t, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return t.Status.Token, nil
}

func kubeconfigOf(config *rest.Config, token string) clientcmdapi.Config {
	c := clientcmdapi.NewConfig()
	c.Clusters["test"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile}
	c.AuthInfos["shard"] = &clientcmdapi.AuthInfo{Token: token}
	c.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "shard"}
	c.CurrentContext = "test"
	return *c
}

var (
	labelPath = regexp.MustCompile(`^metadata\.labels\['(.*)'\]$`)
	reference = regexp.MustCompile(`\$\(([A-Z_]+)\)`)
)

// field is a field of a pod as the downward API has it.
func field(pod *corev1.Pod, path string) string {
	if m := labelPath.FindStringSubmatch(path); m != nil {
		return pod.Labels[m[1]]
	}
	return ""
}

// expand fills in variables.
func expand(text string, values map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		if v, ok := values[ref[2:len(ref)-1]]; ok {
			return v
		}
		return ref
	})
}
