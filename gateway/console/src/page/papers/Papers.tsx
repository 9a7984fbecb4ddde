import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useSearchParams } from "wouter-preact";

import { count, counted } from "../../api/format";
import { newestPapers, papers, type PaperSearch } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { text } from "../../text";
import { PaperRow } from "./PaperRow";

function searchOf(address: URLSearchParams): PaperSearch {
  return {
    query: address.get("q") ?? "",
    categories: (address.get("categories") ?? "").split(/[\s,]+/).filter(Boolean),
    onlyContainers: address.get("container") === "1",
  };
}

function addressOf(search: PaperSearch): Record<string, string> {
  return {
    ...(search.query ? { q: search.query } : {}),
    ...(search.categories.length > 0 ? { categories: search.categories.join(" ") } : {}),
    ...(search.onlyContainers ? { container: "1" } : {}),
  };
}

interface FormProps {
  initial: PaperSearch;
  onSearch: (search: PaperSearch) => void;
}

function SearchForm({ initial, onSearch }: FormProps) {
  const [query, setQuery] = useState(initial.query);
  const [categories, setCategories] = useState(initial.categories.join(" "));
  const [onlyContainers, setOnlyContainers] = useState(initial.onlyContainers);
  const submit = (event: Event) => {
    event.preventDefault();
    onSearch({ query: query.trim(), categories: categories.split(/[\s,]+/).filter(Boolean), onlyContainers });
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input
        type="search"
        aria-label={text.papers.query}
        placeholder={text.papers.query}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <input
        aria-label={text.papers.categories}
        placeholder={text.papers.categories}
        value={categories}
        onInput={(event) => setCategories(event.currentTarget.value)}
      />
      <label class="check">
        <input type="checkbox" checked={onlyContainers} onChange={(event) => setOnlyContainers(event.currentTarget.checked)} />
        {text.papers.container}
      </label>
      <Button kind="main" type="submit">
        {text.papers.submit}
      </Button>
    </form>
  );
}

function Newest() {
  return (
    <Answer query={useQuery(newestPapers)}>
      {({ items, total }) =>
        total > 0 ? (
          <>
            <p class="lead">{text.papers.newest(count(total))}</p>
            {items.map((paper) => (
              <PaperRow key={paper.arxiv_id} paper={paper} />
            ))}
          </>
        ) : (
          <Empty>{text.papers.empty}</Empty>
        )
      }
    </Answer>
  );
}

function Found({ search, onClear }: { search: PaperSearch; onClear: () => void }) {
  const hasFilter = search.categories.length > 0 || search.onlyContainers;
  return (
    <Answer query={useQuery(papers(search))}>
      {(hits) =>
        hits.length > 0 ? (
          <>
            <p class="lead">{text.papers.found(counted(hits.length, "paper"))}</p>
            {hits.map((hit) => (
              <PaperRow key={hit.arxiv_id} paper={hit} score={hit.relevance_score} />
            ))}
          </>
        ) : (
          <Empty action={hasFilter && <Button onClick={onClear}>{text.papers.clear}</Button>}>{text.papers.none}</Empty>
        )
      }
    </Answer>
  );
}

export default function Papers() {
  const [address, setAddress] = useSearchParams();
  const search = searchOf(address);
  const onSearch = (next: PaperSearch) => setAddress(addressOf(next));
  return (
    <Page title={text.papers.title}>
      <SearchForm key={address.toString()} initial={search} onSearch={onSearch} />
      {search.query ? (
        <Found search={search} onClear={() => onSearch({ query: search.query, categories: [], onlyContainers: false })} />
      ) : (
        <Newest />
      )}
    </Page>
  );
}
