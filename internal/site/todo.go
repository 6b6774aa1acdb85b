package site

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// todoMark begins the comments of site detect on what it could not see.
const todoMark = "# TODO"

// todos reports each comment that begins with TODO, with its line: its value is not confirmed.
func todos(root *yaml.Node, data []byte) []Problem {
	comments := map[string]bool{}
	collectComments(root, comments)
	var out []Problem
	for i, line := range strings.Split(string(data), "\n") {
		at := strings.Index(line, todoMark)
		if at < 0 {
			continue
		}
		// the mark may also be part of a text
		comment := strings.TrimSpace(line[at:])
		if comments[comment] {
			out = append(out, Problem{Line: i + 1, Message: strings.TrimPrefix(comment, "# ") + ": enter or confirm the value, then delete the comment"})
		}
	}
	return out
}

func collectComments(node *yaml.Node, into map[string]bool) {
	for _, text := range []string{node.HeadComment, node.LineComment, node.FootComment} {
		for line := range strings.SplitSeq(text, "\n") {
			into[strings.TrimSpace(line)] = true
		}
	}
	for _, child := range node.Content {
		collectComments(child, into)
	}
}
