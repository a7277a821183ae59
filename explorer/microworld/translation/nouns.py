"""The nouns: English (and its plural where it is irregular), French (the same), gender, and what sort of thing it is.

Kinds decide what may be said of a thing. An English word with two translations stands here twice, with kinds that
never meet: a *bank* with money is not the bank of a river.
"""

NOUN_LINES = """
boy | garçon | m | person young
girl | fille | f | person young
man/men | homme | m | person
woman/women | femme | f | person
child/children | enfant | m | person young
doctor | médecin | m | person job healer
teacher | professeur | m | person job
baker | boulanger | m | person job
farmer | fermier | m | person job
singer | chanteur | m | person job
dancer | danseur | m | person job
cook | cuisinier | m | person job
student | étudiant | m | person job
neighbour | voisin | m | person kin
friend | ami | m | person kin
painter | peintre | m | person
sailor | marin | m | person
dentist | dentiste | m | person healer
king | roi | m | person
queen | reine | f | person
princess | princesse | f | person
brother | frère | m | person kin family
sister | sœur | f | person kin family
father | père | m | person kin elder
mother | mère | f | person kin elder
uncle | oncle | m | person kin elder
aunt | tante | f | person kin elder
grandfather | grand-père/grands-pères | m | person kin elder
grandmother | grand-mère/grands-mères | f | person kin elder
son | fils | m | person kin family
cat | chat | m | animal pet
dog | chien | m | animal pet
horse | cheval | m | animal wildlife
cow | vache | f | animal
bird | oiseau | m | animal flying
mouse/mice | souris | f | animal
bear | ours | m | animal wildlife
wolf/wolves | loup | m | animal wildlife
fox | renard | m | animal
rabbit | lapin | m | animal pet wildlife
duck | canard | m | animal wildlife
goat | chèvre | f | animal
donkey | âne | m | animal wildlife
elephant | éléphant | m | animal wildlife
bee | abeille | f | animal flying
butterfly | papillon | m | animal flying
tortoise | tortue | f | animal pet
monkey | singe | m | animal
owl | hibou/hiboux | m | animal flying
frog | grenouille | f | animal
bat | chauve-souris/chauves-souris | f | flier
animal | animal | m | animal
bread | pain | m | food mass slice
cheese | fromage | m | food mass slice
butter | beurre | m | food mass
rice | riz | m | food mass
meat | viande | f | food mass slice
soup | soupe | f | food mass warm
salad | salade | f | food mass
jam | confiture | f | food mass
honey | miel | m | food mass
chocolate | chocolat | m | food mass
ham | jambon | m | food mass slice
apple | pomme | f | fruit small
pear | poire | f | fruit small
orange | orange | f | fruit small
egg | œuf | m | fruit small
cake | gâteau | m | fruit baked
tomato/tomatoes | tomate | f | fruit small
banana | banane | f | fruit small
carrot | carotte | f | fruit small
cherry | cerise | f | fruit small
lemon | citron | m | fruit small
water | eau/eaux | f | drink mass warm
milk | lait | m | drink mass warm
tea | thé | m | drink mass warm
coffee | café | m | drink mass warm
wine | vin | m | drink mass
juice | jus | m | drink mass
lemonade | limonade | f | drink mass
book | livre | m | readable thing small
letter | lettre | f | readable thing small post letter
newspaper | journal | m | readable small
poem | poème | m | readable written
story | histoire | f | readable written
key | clé | f | thing small
lamp | lampe | f | thing switch
clock | horloge | f | thing machine
box | boîte | f | thing holder
bag | sac | m | thing holder
basket | panier | m | thing holder
suitcase | valise | f | thing holder case
trunk | coffre | m | holder case
drawer | tiroir | m | holder case
ball | ballon | m | thing small toy
doll | poupée | f | thing small toy
toy | jouet | m | thing small toy
pen | stylo | m | thing small
pencil | crayon | m | thing small
umbrella | parapluie | m | thing small
watch | montre | f | thing small
ring | bague | f | thing small
mirror | miroir | m | thing
vase | vase | m | thing packed
bottle | bouteille | f | thing
cup | tasse | f | thing small
plate | assiette | f | thing
knife/knives | couteau | m | thing small
spoon | cuillère | f | thing small
chair | chaise | f | thing seat
armchair | fauteuil | m | thing seat
table | table | f | thing surface
bed | lit | m | thing seat
desk | bureau | m | thing surface
wardrobe | armoire | f | thing holder
carpet | tapis | m | thing surface
phone | téléphone | m | thing small machine
computer | ordinateur | m | thing machine switch
present | cadeau | m | thing small gift post
painting | tableau | m | thing packed
photo | photo | f | thing small gift post
card | carte | f | thing small post gift
candle | bougie | f | thing small
medal | médaille | f | thing small
trophy | trophée | m | packed thing
bat | batte | f | club
guitar | guitare | f | thing instrument packed
piano | piano | m | instrument
violin | violon | m | thing instrument packed
flute | flûte | f | thing instrument small
trumpet | trompette | f | thing instrument packed
hat | chapeau | m | clothes small
coat | manteau | m | clothes
dress | robe | f | clothes
shirt | chemise | f | clothes
skirt | jupe | f | clothes
jacket | veste | f | clothes
scarf/scarves | écharpe | f | clothes small
tie | cravate | f | clothes small
shoe | chaussure | f | pair
glove | gant | m | pair
sock | chaussette | f | pair
glasses/glasses | lunettes/lunettes | f | plural
car | voiture | f | vehicle machine driven
truck | camion | m | vehicle machine driven
bus | bus | m | transport driven
train | train | m | transport
plane | avion | m | transport
boat | bateau | m | vehicle built
bicycle | vélo | m | vehicle machine
motorcycle | moto | f | vehicle machine
house | maison | f | building home built
school | école | f | building goal
church | église | f | building goal sight built high
station | gare | f | building goal
hospital | hôpital | m | building goal
library | bibliothèque | f | building goal
museum | musée | m | building goal sight
theatre | théâtre | m | building goal
cinema | cinéma | m | building goal
restaurant | restaurant | m | building goal
hotel | hôtel | m | building goal high
bank | banque | f | building goal
bakery | boulangerie | f | building goal
factory | usine | f | building
castle | château | m | building home sight built high
shop | magasin | m | building
farm | ferme | f | building home
market | marché | m | goal shopping
airport | aéroport | m | goal shopping
beach | plage | f | goal
bank | rive | f | shore
garden | jardin | m | outdoors
park | parc | m | outdoors
forest | forêt | f | outdoors
village | village | m | outdoors town
town | ville | f | town
field | champ | m | outdoors way
street | rue | f | way
square | place | f | way
river | rivière | f | way stream
lake | lac | m | stream
bridge | pont | m | way built
road | route | f | way
track | piste | f | way
canal | canal | m | way stream
mountain | montagne | f | nature
island | île | f | nature
kitchen | cuisine | f | room
bedroom | chambre | f | room
hall | entrée | f | room
attic | grenier | m | room
cellar | cave | f | room
garage | garage | m | room
corridor | couloir | m | room
tree | arbre | m | nature high
flower | fleur | f | gift small
rose | rose | f | gift small
star | étoile | f | sky
moon | lune | f | sky
door | porte | f | opening
window | fenêtre | f | opening
wall | mur | m | part built
roof | toit | m | part roof
light | lumière | f | light switch
year | an | m | age
answer | réponse | f | idea known
lesson | leçon | f | idea taught
idea | idée | f | idea
question | question | f | idea asked
song | chanson | f | song known
film | film | m | film
game | jeu | m | idea taught
exercise | exercice | m | idea explained exercise
secret | secret | m | known
problem | problème | m | idea explained
football | football | m | sport
tennis | tennis | m | sport
cards/cards | cartes/cartes | f | sport plural_game
chess/chess | échecs/échecs | m | sport plural_game
"""

# The same English words said of a woman: chosen only where the rest of the sentence shows it.
FEMININE_LINES = """
teacher | professeure | f | person job
baker | boulangère | f | person job
farmer | fermière | f | person job
singer | chanteuse | f | person job
dancer | danseuse | f | person job
cook | cuisinière | f | person job
student | étudiante | f | person job
neighbour | voisine | f | person kin
friend | amie | f | person kin
"""
