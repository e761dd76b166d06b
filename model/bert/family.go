package bert

import (
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
)

// family describes the models of a model_type. The layers of all families are the same.
type family struct {
	kind       string // the model_type
	classifier string // the architecture of a model with a classification head
	shifted    bool   // positions begin after the ID of the padding token, and token types are not used
	// The names of layers in the files: the prefix of the encoder's layers, which files with only an encoder may lack, and the names of the
	// two layers of the classification head.
	encoder, dense, scores string
}

// families returns the families.
func families() []family {
	return []family{
		{"bert", "BertForSequenceClassification", false, "bert.", "bert.pooler.dense", "classifier"},
		{"roberta", "RobertaForSequenceClassification", true, "roberta.", "classifier.dense", "classifier.out_proj"},
		{"xlm-roberta", "XLMRobertaForSequenceClassification", true, "roberta.", "classifier.dense", "classifier.out_proj"},
		{"camembert", "CamembertForSequenceClassification", true, "roberta.", "classifier.dense", "classifier.out_proj"},
	}
}

// familyOf returns the family of a model_type. An empty one is BERT.
func familyOf(kind string) (family, bool) {
	list := families()
	if kind == "" {
		return list[0], true
	}
	i := slices.IndexFunc(list, func(f family) bool { return f.kind == kind })
	if i < 0 {
		return family{}, false
	}
	return list[i], true
}

// kinds returns the model_types of all families, for messages.
func kinds() string {
	var list []string
	for _, f := range families() {
		list = append(list, f.kind)
	}
	n := len(list) - 1
	return strings.Join(list[:n], ", ") + " and " + list[n]
}

// rename returns the name in the file for the name of a layer by the tags of this package. If the file has only an encoder, names may lack
// the family's prefix.
func (f family) rename(prefixed bool) func(name string) string {
	return func(name string) string {
		switch rest, ok := strings.CutPrefix(name, "encoder."); {
		case name == "head.dense":
			return f.dense
		case name == "head.scores":
			return f.scores
		case ok && prefixed:
			return f.encoder + rest
		default:
			return rest
		}
	}
}

// ignored returns the tensors of a file that do not belong to the encoder or, if there is one, to its head.
func (f family) ignored(file *weights.File, head bool) (list []string) {
	for _, t := range file.Tensors {
		name := strings.TrimPrefix(t.Name(), f.encoder)
		used := strings.HasPrefix(name, "encoder.") || strings.HasPrefix(name, "embeddings.") ||
			head && (strings.HasPrefix(t.Name(), f.dense+".") || strings.HasPrefix(t.Name(), f.scores+"."))
		if !used || strings.HasSuffix(name, ".position_ids") {
			list = append(list, t.Name())
		}
	}
	return list
}
