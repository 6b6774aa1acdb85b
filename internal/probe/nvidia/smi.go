package nvidia

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

var dtdName = regexp.MustCompile(`nvsmi_device_v\d+\.dtd`)

// ParseSMI parses the XML of nvidia-smi -q -x. It ignores lines before the document:
// ParseSMIErrors parses them.
func ParseSMI(data []byte) (SMILog, error) {
	l, err := guard.Parse("document", func() (SMILog, error) { return parseSMI(data) })
	if err != nil {
		return SMILog{}, fmt.Errorf("read nvidia-smi: %w", err)
	}
	return l, nil
}

func parseSMI(data []byte) (SMILog, error) {
	text := bytes.TrimSpace(data)
	if len(text) == 0 {
		return SMILog{}, errors.New("no output; expected the XML of nvidia-smi -q -x")
	}
	if !utf8.Valid(text) {
		return SMILog{}, errors.New("the output is not UTF-8 text")
	}
	start := bytes.Index(text, []byte("<?xml"))
	if start < 0 {
		line, _, _ := strings.Cut(string(text), "\n")
		return SMILog{}, fmt.Errorf("no XML in the output: %.200q", line)
	}
	doc, dtd, err := decode(text[start:])
	if err != nil {
		return SMILog{}, err
	}
	l := SMILog{DTD: dtd, Driver: strings.TrimSpace(firstText(doc.Driver, doc.KMD)), CUDA: strings.TrimSpace(firstText(doc.CUDA, doc.CUDAUMD))}
	if l.Driver == "" {
		return SMILog{}, errors.New("driver_version is missing")
	}
	if l.Attached, err = strconv.Atoi(strings.TrimSpace(doc.Attached)); err != nil || l.Attached < 0 {
		return SMILog{}, fmt.Errorf("invalid attached_gpus %.40q: must be a number", doc.Attached)
	}
	for i := range doc.GPUs {
		g, err := doc.GPUs[i].gpu(i)
		if err != nil {
			return SMILog{}, fmt.Errorf("gpu %.40q: %w", doc.GPUs[i].ID, err)
		}
		l.GPUs = append(l.GPUs, g)
	}
	return l, nil
}

// decode decodes the one document of data and its DTD name.
func decode(data []byte) (doc smiDocument, dtd string, err error) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	found := false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return doc, "", fmt.Errorf("decode XML: %w", err)
		}
		switch token := token.(type) {
		case xml.Directive:
			dtd = dtdName.FindString(string(token))
		case xml.StartElement:
			if found || token.Name.Local != "nvidia_smi_log" {
				return doc, "", fmt.Errorf("element %.40q: expected one nvidia_smi_log", token.Name.Local)
			}
			found = true
			if err := dec.DecodeElement(&doc, &token); err != nil {
				return doc, "", fmt.Errorf("decode XML (is the output truncated?): %w", err)
			}
		case xml.CharData:
			if line := outside(token); line != "" {
				return doc, "", fmt.Errorf("%.80q outside the document", line)
			}
		}
	}
	if !found {
		return doc, "", errors.New("no nvidia_smi_log in the XML: the output is truncated")
	}
	return doc, dtd, nil
}

// outside returns the first line of text that is not a message about a GPU. ParseSMIErrors parses those.
func outside(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !mentions(line, lost) && !mentions(line, faulty) {
			return line
		}
	}
	return ""
}
