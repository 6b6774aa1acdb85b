package slurmjob

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// notStarted matches lines of Pyxis about a container that cannot be imported or started, and of slurmstepd about a
	// plugin that fails (pyxis_slurmstepd.c, plugstack.c; NVIDIA/pyxis issues 4, 6, 53, 61, 135, 144). Lines about the
	// removal of a container are not among them.
	notStarted = regexp.MustCompile(`pyxis: (?:could\S+ start container|failed to import|failed to create container|container start failed|child \d+ (?:failed|terminated))` +
		`|spank: required plugin \S+ (?:init_post_opt|user_init|task_init)\(\) failed|launch failed: Plugin initialization failed`)
	// enrootLog matches the lines of enroot's log that Pyxis prints, without the progress.
	enrootLog = regexp.MustCompile(`pyxis: {2,}[^ \[]|pyxis: +\[(?:ERROR|WARN)`)
	// exited matches srun's line about tasks that failed, which names the node.
	exited = regexp.MustCompile(`srun: error: \S+: tasks? `)
)

// ContainerProblem are the lines about a container that was not started, with srun's about the node; empty
// without such lines. They show that nothing ran only where the program has no output.
func ContainerProblem(text string) string {
	const most, width = 6, 200
	var lines, nodes []string
	found := false
	for line := range strings.Lines(strings.ToValidUTF8(text, "?")) {
		line = strings.TrimSpace(line)
		line = line[:min(len(line), width)]
		begins := notStarted.MatchString(line)
		found = found || begins
		switch {
		case exited.MatchString(line) && len(nodes) < most && !slices.Contains(nodes, line):
			nodes = append(nodes, line)
		case (begins || enrootLog.MatchString(line)) && len(lines) < most && !slices.Contains(lines, line):
			lines = append(lines, line)
		}
	}
	if !found {
		return ""
	}
	return strings.ToValidUTF8(strings.Join(append(lines, nodes...), " | "), "?")
}

// unstarted are the lines about the containers of tasks that have not begun; empty without such lines.
func (p printed) unstarted() string {
	var text strings.Builder
	all := true
	for i := range p.tasks {
		if t := &p.tasks[i]; t.node == "" {
			all = false
			text.Write(t.log.Bytes())
			text.WriteByte('\n')
		}
	}
	if all {
		return ""
	}
	return ContainerProblem(text.String() + strings.Join(p.messages, "\n"))
}
