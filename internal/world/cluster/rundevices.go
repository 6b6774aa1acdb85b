package cluster

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

// devices simulates a shell script that reads the GPUs of its container or files of its host, one
// command per line: a loop over device files, nvidia-smi -L or -q -x, cat, echo and sleep. Other
// lines have no effect.
func (w *worker) devices(out io.Writer, c corev1.Container, h held) (int, error) {
	state := w.runtime.world.Recent()
	node, ok := state.Node(w.pod.Spec.NodeName)
	if !ok {
		return 1, fmt.Errorf("run container %s: unknown host %s", c.Name, w.pod.Spec.NodeName)
	}
	sees := visible(node, c, h)
	argv := slices.Concat(c.Command, c.Args)
	exit := 0
	for i, line := range strings.Split(argv[len(argv)-1], "\n") {
		var text string
		line = strings.TrimSpace(line)
		switch {
		case strings.Contains(line, "/dev/nvidia[0-9]"):
			text, exit = deviceFiles(line, sees), 0
		case strings.Contains(line, "nvidia-smi -L"):
			text, exit = listGPUs(node, sees, argv[0], i+1)
		case line == "nvidia-smi -q -x":
			text, exit = w.report(state, node, sees, argv[0], i+1)
		case strings.HasPrefix(line, "cat "):
			text, exit = w.cat(state, c, strings.TrimPrefix(line, "cat "))
		case strings.HasPrefix(line, "echo "):
			text, exit = strings.Trim(strings.TrimPrefix(line, "echo "), `"'`)+"\n", 0
		case strings.HasPrefix(line, "sleep "):
			exit = 0
			if err := sleep(w.ctx, sleepTime(line)); err != nil {
				return 0, nil //nolint:nilerr // the pod was stopped
			}
		}
		if _, err := io.WriteString(out, text); err != nil {
			return 1, fmt.Errorf("run container %s: %w", c.Name, err)
		}
	}
	return exit, nil
}

// visible returns the GPUs whose devices are in a container.
func visible(host world.Node, c corev1.Container, h held) []int {
	sees := slices.Clone(h.claimed[c.Name])
	if c.Resources.Limits.Name(gpuResource, "").Sign() > 0 {
		sees = append(sees, h.plugged...)
	}
	if len(sees) > 0 {
		slices.Sort(sees)
		return sees
	}
	if host.ClaimLeaks {
		for _, g := range h.given {
			sees = append(sees, g.Index)
		}
	}
	if host.EnvLeaks && environmentOf(c)["NVIDIA_VISIBLE_DEVICES"] == "all" {
		sees = nil
		for _, g := range host.GPUs {
			if g.Usable() {
				sees = append(sees, g.Index)
			}
		}
	}
	slices.Sort(sees)
	return sees
}

// echoed matches the output of a loop for each file: words and the file.
var echoed = regexp.MustCompile(`echo "?([^"$;]*)\$`)

func deviceFiles(loop string, sees []int) string {
	var b strings.Builder
	if m := echoed.FindStringSubmatch(loop); m != nil {
		for _, i := range sees {
			fmt.Fprintf(&b, "%s/dev/nvidia%d\n", m[1], i)
		}
	}
	return b.String()
}

// listGPUs is nvidia-smi -L. The container toolkit adds it only to containers with a device.
func listGPUs(host world.Node, sees []int, shell string, line int) (text string, exit int) {
	if len(sees) == 0 {
		if filepath.Base(shell) == "bash" {
			return fmt.Sprintf("%s: line %d: nvidia-smi: command not found\n", shell, line), 127
		}
		return fmt.Sprintf("%s: %d: nvidia-smi: not found\n", shell, line), 127
	}
	if host.NVMLError != "" {
		return host.NVMLError + "\n", 255
	}
	var b strings.Builder
	n := 0
	for _, g := range host.GPUs {
		if slices.Contains(sees, g.Index) && g.Usable() {
			fmt.Fprintf(&b, "GPU %d: %s (UUID: %s)\n", n, host.Hardware.GPU.Product, g.UUID)
			n++
		}
	}
	return b.String(), 0
}

// report is nvidia-smi -q -x with the GPUs of a container.
func (w *worker) report(state world.State, node world.Node, sees []int, shell string, line int) (text string, exit int) {
	if len(sees) == 0 {
		return listGPUs(node, sees, shell, line)
	}
	state.Nodes = slices.Clone(state.Nodes)
	for i := range state.Nodes {
		if state.Nodes[i].Name == node.Name {
			state.Nodes[i].GPUs = slices.DeleteFunc(slices.Clone(node.GPUs), func(g world.GPU) bool { return !slices.Contains(sees, g.Index) })
		}
	}
	stdout, stderr, exit := host.Run(w.ctx, state, node.Name, []string{"nvidia-smi", "-q", "-x"})
	return string(stdout) + string(stderr), exit
}

// cat prints a file of the host that is mounted in a container.
func (w *worker) cat(state world.State, c corev1.Container, path string) (text string, exit int) {
	for _, m := range c.VolumeMounts {
		for _, v := range w.pod.Spec.Volumes {
			if v.Name == m.Name && v.HostPath != nil && m.MountPath == path {
				stdout, stderr, exit := host.Run(w.ctx, state, w.pod.Spec.NodeName, []string{"cat", v.HostPath.Path})
				return string(stdout) + string(stderr), exit
			}
		}
	}
	return fmt.Sprintf("cat: %s: No such file or directory\n", path), 1
}

// sleepTime parses "sleep N" and "sleep infinity".
func sleepTime(line string) time.Duration {
	word := strings.TrimSpace(strings.TrimPrefix(line, "sleep "))
	if n, err := strconv.Atoi(word); err == nil {
		return time.Duration(n) * time.Second
	}
	if word == "infinity" {
		return 1 << 62
	}
	return 0
}
