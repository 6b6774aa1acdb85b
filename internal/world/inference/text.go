package inference

import (
	"bytes"
	_ "embed"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

//go:embed golden.yaml
var goldenYAML []byte

// language generates tokens for prompts.
type language struct {
	golden map[string][]string
	words  []string
}

func newLanguage() (language, error) {
	l := language{words: strings.Fields(vocabulary)}
	if err := yaml.NewDecoder(bytes.NewReader(goldenYAML)).Decode(&l.golden); err != nil {
		return language{}, fmt.Errorf("decode golden continuations: %w", err)
	}
	return l, nil
}

const vocabulary = `the of and a to in is that it was for on are as with they at be this from have or by one had not but
what all were when we there can an your which their said if do will each about how up out them then she many some so these
would other into has more her two like him see time could no make than first been its who now people my made over did down
only way find use may water long little very after words called just where most know get through back much before go good
new write our used me man too any day same right look think also around another came come work three word must because does
part even place well such here take why things help put years different away again off went old number great tell men say`

// next returns the i-th token of the answer to a prompt.
func (l language) next(prompt string, i int, salt uint64) string {
	if salt == 0 {
		if known, ok := l.golden[strings.TrimSpace(prompt)]; ok && i < len(known) {
			return known[i]
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(prompt)) // never fails
	_, _ = h.Write([]byte(strconv.FormatUint(salt, 16) + ":" + strconv.Itoa(i)))
	return " " + l.words[h.Sum64()%uint64(len(l.words))]
}

// otherwise returns the i-th token of another revision's answer, which begins equally and then
// differs.
func (l language) otherwise(prompt string, i int, salt uint64) string {
	const alike, revision = 2, 1 << 32
	if i < alike {
		return l.next(prompt, i, salt)
	}
	return l.next(prompt, i, salt^revision)
}

// nonsense is the output of a broken model: token 0 repeated.
const nonsense = "!"

// countTokens approximates a tokenizer: one token per word of up to six letters and one for every
// further six.
func countTokens(text string) int {
	n := 0
	for w := range strings.FieldsSeq(text) {
		n += (utf8.RuneCountInString(w) + 5) / 6
	}
	return n
}
