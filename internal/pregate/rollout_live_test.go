package pregate

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/probe/ssh/opensshtest"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
)

const hiddenValue = "hunter2-of-the-playbook"

// needAnsible skips a test where ansible-playbook, or the collection of its JSON callback, is missing.
func needAnsible(t *testing.T) {
	t.Helper()
	const install = "apt-get install ansible"
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skipf("needs ansible-playbook: %s", install)
	}
	if out, err := exec.CommandContext(t.Context(), "ansible-doc", "-t", "callback", "ansible.posix.json").CombinedOutput(); err != nil || strings.Contains(string(out), "was not found") {
		t.Skipf("needs the collection ansible.posix: %s: %v %.200s", install, err, out)
	}
}

// nodes are hosts on this machine, each a directory that the playbook writes to; gpu-09 has a closed port.
const inventory = `[nodes]
gpu-01 ansible_connection=local
gpu-02 ansible_connection=local
gpu-09 ansible_host=127.0.0.1 ansible_port=1 ansible_ssh_common_args='-o ConnectTimeout=5 -o UserKnownHostsFile=/dev/null'
[nodes:vars]
ansible_python_interpreter=auto_silent
token=` + hiddenValue + `
`

// tasks is the playbook: a file on each host, a secret, and one more task.
func tasks(dir, more string) string {
	return `- name: Nodes
  hosts: nodes
  gather_facts: false
  tasks:
    - name: Write the driver's settings
      ansible.builtin.copy: {content: "{{ token }}", dest: "` + dir + `/{{ inventory_hostname }}"}
` + more
}

// inEveryRun are the cases of make test: ansible-playbook takes seconds to start.
var inEveryRun = map[string]bool{"applied": true, "a host is not in the inventory": true, "a host is unreachable": true, "the output is cut short": true}

// TestLiveRollout runs the real ansible-playbook. Each negative control must be found on its host, with
// its task, and stop the waves; no observation has a secret.
func TestLiveRollout(t *testing.T) {
	suite.Live(t)
	needAnsible(t)
	for name, c := range map[string]struct {
		hosts   []string
		more    string
		play    string // instead of tasks
		program string // a script instead of ansible-playbook; %s is the real one
		timeout time.Duration
		nodes   func(node string) []check.Finding
		once    bool
		verdict check.Verdict
		want    []string
		// written are the hosts to which the playbook was applied.
		written string
	}{
		"applied": {
			more:  "    - name: Log in\n      ansible.builtin.command: echo {{ token }}\n      no_log: true\n      changed_when: false\n",
			nodes: func(string) []check.Finding { return nil }, verdict: check.Passed, written: "gpu-01 gpu-02",
		},
		"a task fails in the second wave": {
			more:    "    - name: Load the driver\n      ansible.builtin.fail: {msg: no module for this kernel}\n      when: inventory_hostname == 'gpu-02'\n",
			verdict: check.Failed, want: []string{`gpu-02: nodes.yaml failed, at task "Load the driver" of play "Nodes": no module for this kernel`}, written: "gpu-01 gpu-02",
		},
		"a task fails in the first wave": {
			more:    "    - name: Load the driver\n      ansible.builtin.command: sh -c 'echo {{ token }}; exit 3'\n",
			verdict: check.Failed, want: []string{`gpu-01: nodes.yaml failed, at task "Load the driver" of play "Nodes": non-zero return code`, "wave 1 of 2 failed: the playbook was not applied to gpu-02"}, written: "gpu-01",
		},
		"a host is unreachable": {
			hosts: []string{"gpu-09", "gpu-01"}, verdict: check.Failed, want: []string{"gpu-09: unreachable for nodes.yaml, at task", "Connection refused", "was not applied to gpu-01"},
		},
		"a host is not in the inventory": {
			hosts: []string{"gpu-01", "gpu-77"}, verdict: check.Failed, want: []string{"gpu-77: is a node of the site, and no play of nodes.yaml has it: nothing was changed"},
		},
		"not idempotent": {
			more:    "    - name: Append\n      ansible.builtin.shell: echo again\n",
			verdict: check.Failed, want: []string{`gpu-01: nodes.yaml is not idempotent: its second run changed the host again, 1 tasks: "Append"`, "was not applied to gpu-02"}, written: "gpu-01",
		},
		"not idempotent, without a second run": {
			more: "    - name: Reboot\n      ansible.builtin.shell: echo again\n", once: true, verdict: check.Passed, written: "gpu-01 gpu-02",
		},
		"every task is skipped": {
			play:    "- hosts: nodes\n  gather_facts: false\n  tasks:\n    - name: Never\n      ansible.builtin.command: 'true'\n      when: false\n",
			verdict: check.Failed, want: []string{"gpu-01: no task of nodes.yaml was carried out on it (1 skipped, 0 failed and ignored, 0 failed and rescued)"},
		},
		"only a message after a failure that is ignored": {
			play: "- hosts: nodes\n  gather_facts: false\n  tasks:\n    - {name: Load the driver, ansible.builtin.command: 'false', ignore_errors: true}\n" +
				"    - {name: Print, ansible.builtin.debug: {msg: done}}\n",
			verdict: check.Failed, want: []string{"gpu-01: no task of nodes.yaml was carried out on it (0 skipped, 1 failed and ignored, 0 failed and rescued)"},
		},
		"a failure that is rescued": {
			more:    "    - block:\n        - {name: Load the driver, ansible.builtin.command: 'false'}\n      rescue:\n        - {name: Print, ansible.builtin.debug: {msg: done}}\n",
			verdict: check.Passed, want: []string{`playbook nodes.yaml: task "Load the driver" failed on gpu-01, and the playbook ignores or rescues that`}, written: "gpu-01 gpu-02",
		},
		"an unreachable host that is ignored": {
			play:  "- hosts: nodes\n  gather_facts: false\n  ignore_unreachable: true\n  tasks:\n    - {name: Reach, ansible.builtin.ping: {}}\n    - {name: Print, ansible.builtin.debug: {msg: done}}\n",
			hosts: []string{"gpu-09", "gpu-01"}, verdict: check.Failed, want: []string{"gpu-09: no task of nodes.yaml was carried out on it (0 skipped, "},
		},
		"a host ends before its tasks": {
			play: "- hosts: nodes\n  gather_facts: false\n  tasks:\n    - {name: Print, ansible.builtin.debug: {msg: hello}}\n" +
				"    - {name: End, ansible.builtin.meta: end_host, when: inventory_hostname == 'gpu-02'}\n    - {name: Load the driver, ansible.builtin.command: 'true', changed_when: false}\n",
			verdict: check.Failed, want: []string{"gpu-02: no task of nodes.yaml was carried out on it (0 skipped, "},
		},
		"a play has a part of the nodes": {
			play: "- hosts: nodes\n  gather_facts: false\n  tasks: [{name: Reach, ansible.builtin.ping: {}}]\n- name: Driver\n  hosts: gpu-01\n  gather_facts: false\n  tasks: [{name: Load, ansible.builtin.ping: {}}]\n" +
				"- name: Certificates\n  hosts: localhost\n  gather_facts: false\n  tasks: [{name: Make, ansible.builtin.ping: {}}]\n",
			verdict: check.Passed, want: []string{"play #2 (gpu-01): Driver does not have gpu-02", "play #3 (localhost): Certificates has no node of the site: it is not run"},
		},
		"the playbook has an error": {
			play: "- hosts: nodes\n  vars: {token: " + hiddenValue + "}\n  tasks: [\n", verdict: check.Unobserved, want: []string{"playbook nodes.yaml: cannot list its hosts: exit status 4: ERROR! "},
		},
		"the output is cut short": {
			program: `case "$*" in *--list-hosts*) exec %[1]s "$@";; esac; %[1]s "$@" | head -c 700`,
			verdict: check.Unobserved, want: []string{"no result on gpu-01: the result of ansible-playbook is cut short"}, written: "gpu-01",
		},
		"another callback": {
			program: `ANSIBLE_STDOUT_CALLBACK=default exec %s "$@"`,
			verdict: check.Unobserved, want: []string{"no result of the callback ansible.posix.json"}, written: "gpu-01",
		},
		"it does not end": {
			program: `case "$*" in *--list-hosts*) exec %[1]s "$@";; esac; exec sleep 600`, timeout: 20 * time.Second,
			verdict: check.Unobserved, want: []string{"no result on gpu-01: it did not end within 20s"},
		},
		"a node is not well after the first wave": {
			nodes:   func(n string) []check.Finding { return []check.Finding{{Suspect: n + "/gpu3", Message: "is missing"}} },
			verdict: check.Failed, want: []string{"gpu-01/gpu3: is missing", "was not applied to gpu-02"}, written: "gpu-01",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !inEveryRun[name] {
				suite.Require(t, suite.All)
			}
			dir, done := t.TempDir(), t.TempDir()
			text := c.play
			if text == "" {
				text = tasks(done, c.more)
			}
			write(t, filepath.Join(dir, "inventory.ini"), inventory, 0o600)
			write(t, filepath.Join(dir, "nodes.yaml"), text, 0o600)
			t.Setenv("ANSIBLE_LOCAL_TEMP", t.TempDir())
			t.Setenv("ANSIBLE_HOME", t.TempDir())
			if c.program != "" {
				path, err := exec.LookPath("ansible-playbook")
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, "ansible-playbook"), "#!/bin/sh\n"+fmt.Sprintf(c.program, path)+"\n", 0o700)
				t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			}
			t.Chdir(dir)
			hosts, timeout := c.hosts, c.timeout
			if hosts == nil {
				hosts = []string{"gpu-01", "gpu-02"}
			}
			if timeout == 0 {
				timeout = 10 * time.Minute
			}
			r := &rollout{spec: site.Ansible{Playbook: "nodes.yaml", Inventory: "inventory.ini", Waves: "50%"}, hosts: hosts, timeout: timeout}
			var want playbook.Expected
			if c.nodes != nil {
				r.nodes = &NodeCheck{
					Observe: func(_ context.Context, rec check.Recorder, nodes []string) (string, error) {
						_, err := rec.Record(check.Observation{Kind: "nvidia-smi", Target: nodes[0]})
						return "", err
					},
					Judge: func(nodes []string, obs []check.Observation) (failed, unobserved []check.Finding) {
						if len(obs) != 1 || obs[0].Kind != "nvidia-smi" {
							unobserved = append(unobserved, check.Finding{Suspect: nodes[0], Message: fmt.Sprintf("%+v", obs)})
						}
						return c.nodes(nodes[0]), unobserved
					},
				}
				want.Nodes = r.nodes.Judge
			}
			if c.once {
				no := false
				r.spec.Idempotent, want.Once = &no, []bool{true}
			}
			rec := &memory{}
			proceed, err := r.Observe(t.Context(), rec, nil)
			if err != nil {
				t.Fatal(err)
			}
			j, once, ok := playbook.Judge(rec.obs, want)
			if c.once != (len(once) == 1) {
				t.Errorf("without a second run: %q", once)
			}
			var found []string
			for _, f := range j.Findings {
				found = append(found, f.Suspect+": "+f.Message)
			}
			all := strings.Join(found, "\n")
			if !ok || j.Verdict != c.verdict || proceed != (c.verdict == check.Passed) {
				t.Errorf("%s, proceed %v, want %s: %s", j.Verdict, proceed, c.verdict, all)
			}
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("no finding %q: %s", want, all)
				}
			}
			for _, o := range rec.obs {
				if strings.Contains(string(o.Raw)+string(o.Figures)+o.Err+o.Command, hiddenValue) {
					t.Errorf("%s has the secret: %s%s", o.Kind, o.Raw, o.Figures)
				}
			}
			if got := listed(t, done); got != c.written {
				t.Errorf("the playbook was applied to %q, want %q", got, c.written)
			}
		})
	}
}

// TestLiveRolloutOverSSH rolls a playbook out over OpenSSH's server, in waves of one host. The host that
// has changed its key, refuses the key of Ansible or hangs gets nothing and is named, and the third wave does not begin.
func TestLiveRolloutOverSSH(t *testing.T) {
	suite.Live(t)
	suite.Require(t, suite.All)
	needAnsible(t)
	opensshtest.Need(t)
	for name, tt := range map[string]struct {
		spoil   func(second *opensshtest.Server)
		verdict check.Verdict
		want    string
		written string
	}{
		"applied":                {func(*opensshtest.Server) {}, check.Passed, "", "gpu-01 gpu-02 gpu-03"},
		"a host has another key": {func(s *opensshtest.Server) { s.Renew("ed25519") }, check.Failed, "gpu-02: unreachable for nodes.yaml", "gpu-01"},
		"a host refuses the key": {func(s *opensshtest.Server) { write(t, s.File("authorized_keys"), "", 0o600) }, check.Failed, "gpu-02: unreachable for nodes.yaml", "gpu-01"},
		"a host hangs":           {func(s *opensshtest.Server) { s.Hang.Store(true) }, check.Failed, "gpu-02: unreachable for nodes.yaml", "gpu-01"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			id, known := filepath.Join(dir, "id"), ""
			opensshtest.Keygen(t, id, "ed25519", "")
			lines := []string{"[nodes]"}
			var servers []*opensshtest.Server
			for i := range 3 {
				s := opensshtest.Start(t, "Subsystem sftp internal-sftp")
				s.Allow(id + ".pub")
				address := s.Listen(fmt.Sprintf("127.92.0.%d:0", i+1))
				host, port, err := net.SplitHostPort(address)
				if err != nil {
					t.Fatal(err)
				}
				known += s.Known(address)
				servers = append(servers, s)
				lines = append(lines, fmt.Sprintf("gpu-%02d ansible_host=%s ansible_port=%s ansible_user=%s done=%s", i+1, host, port, s.User, s.File("done")))
			}
			write(t, filepath.Join(dir, "known_hosts"), known, 0o600)
			lines = append(lines, "[nodes:vars]", "ansible_python_interpreter=auto_silent", "ansible_ssh_private_key_file="+id,
				"ansible_ssh_common_args='-o UserKnownHostsFile="+filepath.Join(dir, "known_hosts")+" -o ConnectTimeout=20'")
			write(t, filepath.Join(dir, "inventory.ini"), strings.Join(lines, "\n")+"\n", 0o600)
			write(t, filepath.Join(dir, "nodes.yaml"), "- hosts: nodes\n  gather_facts: false\n  tasks:\n    - ansible.builtin.copy: {content: done, dest: '{{ done }}'}\n", 0o600)
			t.Setenv("ANSIBLE_LOCAL_TEMP", t.TempDir())
			t.Setenv("ANSIBLE_HOME", t.TempDir())
			t.Setenv("ANSIBLE_SSH_ARGS", "-o ControlMaster=no") // no process that outlives the test
			t.Setenv("ANSIBLE_SSH_USETTY", "false")             // a server without root has no terminals
			t.Chdir(dir)
			tt.spoil(servers[1])
			r := &rollout{spec: site.Ansible{Playbook: "nodes.yaml", Inventory: "inventory.ini", Waves: "1"}, hosts: []string{"gpu-01", "gpu-02", "gpu-03"}, timeout: 10 * time.Minute}
			rec := &memory{}
			proceed, err := r.Observe(t.Context(), rec, nil)
			if err != nil {
				t.Fatal(err)
			}
			j, _, ok := playbook.Judge(rec.obs, playbook.Expected{})
			if !ok || j.Verdict != tt.verdict || proceed != (tt.verdict == check.Passed) || tt.want != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.HasPrefix(f.Suspect+": "+f.Message, tt.want) }) {
				t.Errorf("%s, proceed %v, want %s with %q: %+v", j.Verdict, proceed, tt.verdict, tt.want, j.Findings)
			}
			var written []string
			for i, s := range servers {
				if _, err := os.Stat(s.File("done")); err == nil {
					written = append(written, fmt.Sprintf("gpu-%02d", i+1))
				}
			}
			if got := strings.Join(written, " "); got != tt.written {
				t.Errorf("the playbook was applied to %q, want %q", got, tt.written)
			}
		})
	}
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func listed(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
