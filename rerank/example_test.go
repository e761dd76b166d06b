package rerank_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/rerank"
)

func ExampleModel_Rank() {
	dev, err := gopherwarp.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	m, err := rerank.Open(dev, "ms-marco-MiniLM-L-6-v2", rerank.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	documents := []string{"Berlin is well known for its museums.", "Berlin has 3.9 million registered inhabitants."}
	scores, err := m.Rank(context.Background(), "How many people live in Berlin?", documents...)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scores {
		fmt.Println(s.Relevance, documents[s.Index])
	}
}
