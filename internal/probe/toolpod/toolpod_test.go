package toolpod

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// machine is a host over SSH: its shell finds some programs and exits with found otherwise.
type machine struct {
	has   []string
	exit  int
	err   error
	lines []string
}

func (m *machine) Run(_ context.Context, _ string, argv ...string) (ssh.Output, error) {
	m.lines = append(m.lines, strings.Join(argv, " "))
	if m.err != nil {
		return ssh.Output{}, m.err
	}
	out := ssh.Output{Origin: ssh.OnHost}
	if len(argv) == 3 && strings.HasPrefix(argv[2], "command -v ") && !slices.Contains(m.has, strings.TrimPrefix(argv[2], "command -v ")) {
		out.Exit = m.exit
	}
	return out, nil
}

func siteWith(tools string) *site.Site {
	s := &site.Site{}
	s.Reach.GPUTools, s.GPUStack.Namespace = tools, "gpu-operator"
	return s
}

func TestHostsThatHaveTheirTools(t *testing.T) {
	t.Parallel()
	cluster := func(context.Context) (*kube.Cluster, error) {
		t.Error("the cluster was asked")
		return nil, errors.New("no cluster")
	}
	for name, tt := range map[string]struct {
		mode  string
		argv  []string
		lines []string
	}{
		"auto":               {site.ToolsAuto, []string{"nvidia-smi", "-q", "-x"}, []string{"sh -c command -v nvidia-smi", "nvidia-smi -q -x", "nvidia-smi -q -x"}},
		"auto, with sudo":    {site.ToolsAuto, []string{"sudo", "-n", "--", "dcgmi", "diag"}, []string{"sh -c command -v dcgmi", "sudo -n -- dcgmi diag", "sudo -n -- dcgmi diag"}},
		"auto, other tool":   {site.ToolsAuto, []string{"ibstat"}, []string{"ibstat", "ibstat"}},
		"auto, mixed script": {site.ToolsAuto, []string{"sh", "-c", "date; nvidia-smi topo -m"}, []string{"sh -c date; nvidia-smi topo -m", "sh -c date; nvidia-smi topo -m"}},
		"host":               {site.ToolsOnHost, []string{"nvidia-smi"}, []string{"nvidia-smi", "nvidia-smi"}},
		"pod, other tool":    {site.ToolsInPods, []string{"dmesg"}, []string{"dmesg", "dmesg"}},
	} {
		m := &machine{has: []string{"nvidia-smi", "dcgmi"}, exit: exitNotFound}
		hosts := New(siteWith(tt.mode), m, cluster)
		for range 2 {
			if out, err := hosts.Run(t.Context(), "gpu-01", tt.argv...); err != nil || out.Origin != ssh.OnHost {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
		}
		if !slices.Equal(m.lines, tt.lines) {
			t.Errorf("%s: %q, want %q", name, m.lines, tt.lines)
		}
	}
}

// A program that is nowhere is an error with the remedy; an error of the search is not taken for
// an absent program.
func TestToolsThatAreNowhere(t *testing.T) {
	t.Parallel()
	down := errors.New("the API server does not answer")
	cluster := func(context.Context) (*kube.Cluster, error) { return nil, down }
	for name, tt := range map[string]struct {
		m    *machine
		mode string
		argv []string
		says []string
		is   error
	}{
		"neither":              {&machine{exit: exitNotFound}, site.ToolsAuto, []string{"nvidia-smi"}, []string{"nvidia-smi is not on the host (command not found, exit code 127)", "does not answer"}, down},
		"neither, bash":        {&machine{exit: exitFalse}, site.ToolsAuto, []string{"sudo", "-n", "-l", "--", "dcgmi", "diag"}, []string{"dcgmi is not on the host", "exit code 1"}, down},
		"neither, a script":    {&machine{exit: exitNotFound}, site.ToolsAuto, nvidia.DiscoveryCommand(), []string{"dcgmi is not on the host"}, down},
		"only pods":            {&machine{has: []string{"nvidia-smi"}}, site.ToolsInPods, []string{"nvidia-smi"}, []string{"does not answer"}, down},
		"the search failed":    {&machine{exit: 126}, site.ToolsAuto, []string{"nvidia-smi"}, []string{"command -v exited 126"}, nil},
		"the host is not seen": {&machine{err: ssh.ErrUnreachable}, site.ToolsAuto, []string{"nvidia-smi"}, nil, ssh.ErrUnreachable},
	} {
		_, err := New(siteWith(tt.mode), tt.m, cluster).Run(t.Context(), "gpu-01", tt.argv...)
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %v", name, err, tt.is)
			continue
		}
		for _, word := range tt.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v, want %q", name, err, word)
			}
		}
	}
	_, err := New(siteWith(site.ToolsInPods), &machine{}, nil).Run(t.Context(), "gpu-01", "nvidia-smi")
	if !errors.Is(err, errNoCluster) {
		t.Errorf("without a cluster: %v", err)
	}
}

func TestEveryToolHasItsSource(t *testing.T) {
	t.Parallel()
	tools, err := loadTools()
	if err != nil || len(tools) != 2 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	for _, tool := range tools {
		if fmt.Sprint(tool.Labels) == "[]" || tool.Container == "" || !strings.Contains(tool.Source, "github.com/NVIDIA/gpu-operator") || tool.Remedy == "" {
			t.Errorf("%+v", tool)
		}
	}
}

// The script of a load in a container keeps output and exit code, gives its command no input, and ends it with its
// standard input, as when the client has gone. The shell is this machine's.
func TestLoadEndsWithItsInput(t *testing.T) {
	t.Parallel()
	start := func(command ...string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
		argv := withSession(command)
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, in, bufio.NewReader(out)
	}
	ended, _, out := start("sh", "-c", "cat; printf '%s|' \"$@\"; exit 226", "sh", "a b", "c")
	data, err := io.ReadAll(out)
	if err != nil || string(data) != "a b|c|" {
		t.Errorf("%q, %v", data, err)
	}
	if err := ended.Wait(); ended.ProcessState.ExitCode() != 226 {
		t.Errorf("it ended with %v", err)
	}
	load, in, out := start("sh", "-c", `trap 'echo stopped; kill $!; exit 3' TERM; sleep 600 & echo started; wait`)
	if line, err := out.ReadString('\n'); err != nil || line != "started\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	data, err = io.ReadAll(out)
	if err != nil || string(data) != "stopped\n" {
		t.Errorf("%q, %v", data, err)
	}
	if err := load.Wait(); load.ProcessState.ExitCode() != 3 {
		t.Errorf("it ended with %v", err)
	}
}
