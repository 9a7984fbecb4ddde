import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;

/** Lucene's half of search_speed.py: FOLDER build, or FOLDER serve. */
public final class SearchSpeedLucene {
    private static final int RESULTS = 10;

    private static void build(Path folder) throws Exception {
        IndexWriterConfig config = new IndexWriterConfig(new EnglishAnalyzer());
        config.setMergeScheduler(new SerialMergeScheduler());
        config.setRAMBufferSizeMB(256);
        try (MMapDirectory directory = new MMapDirectory(folder.resolve("lucene"));
                IndexWriter writer = new IndexWriter(directory, config);
                BufferedReader papers = Files.newBufferedReader(folder.resolve("papers.tsv"))) {
            for (String line; (line = papers.readLine()) != null; ) {
                String[] columns = line.split("\t");
                Document document = new Document();
                document.add(new BinaryDocValuesField("id", new BytesRef(columns[0])));
                document.add(new TextField("text", columns[1] + "\n" + columns[2], Field.Store.NO));
                writer.addDocument(document);
            }
            writer.forceMerge(1);
            writer.commit();
            long bytes = 0;
            for (String file : directory.listAll()) bytes += directory.fileLength(file);
            System.out.printf("{\"index_mb\": %.1f}%n", bytes / 1e6);
        }
    }

    private static BooleanQuery parse(EnglishAnalyzer analyzer, String text) throws Exception {
        BooleanQuery.Builder query = new BooleanQuery.Builder();
        try (TokenStream tokens = analyzer.tokenStream("text", text)) {
            CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
            tokens.reset();
            while (tokens.incrementToken()) query.add(new TermQuery(new Term("text", term.toString())), BooleanClause.Occur.SHOULD);
            tokens.end();
        }
        return query.build();
    }

    /** The bytes of the ids that were found, so that nothing of the work can be left out. */
    private static long search(IndexSearcher searcher, EnglishAnalyzer analyzer, String text) throws Exception {
        ScoreDoc[] hits = searcher.search(parse(analyzer, text), RESULTS).scoreDocs;
        Arrays.sort(hits, (a, b) -> Integer.compare(a.doc, b.doc));
        BinaryDocValues ids = MultiDocValues.getBinaryValues(searcher.getIndexReader(), "id");
        long bytes = 0;
        for (ScoreDoc hit : hits) if (ids.advanceExact(hit.doc)) bytes += ids.binaryValue().length;
        return bytes;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static void serve(Path folder) throws Exception {
        EnglishAnalyzer analyzer = new EnglishAnalyzer();
        List<String> queries = Files.readAllLines(folder.resolve("queries.txt"));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(new MMapDirectory(folder.resolve("lucene"))));
        searcher.setQueryCache(null);
        while (in.readLine() != null) {
            long[] nanos = new long[queries.size()];
            long cpu = cpuNanos();
            long bytes = 0;
            for (int i = 0; i < nanos.length; i++) {
                long begin = System.nanoTime();
                bytes += search(searcher, analyzer, queries.get(i));
                nanos[i] = System.nanoTime() - begin;
            }
            cpu = cpuNanos() - cpu;
            Arrays.sort(nanos);
            System.out.printf("{\"p50_ms\": %.4f, \"p99_ms\": %.4f, \"cpu_ms\": %.4f, \"bytes\": %d}%n",
                    nanos[nanos.length / 2] / 1e6, nanos[nanos.length * 99 / 100] / 1e6, cpu / 1e6 / nanos.length, bytes);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[1].equals("build")) build(Path.of(args[0]));
        else serve(Path.of(args[0]));
    }
}
